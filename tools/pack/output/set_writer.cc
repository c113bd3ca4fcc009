#include "tools/pack/output/set_writer.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "reader/base/interrupt.h"
#include "reader/console/units.h"
#include "tools/pack/inputs/source_file.h"
#include "tools/pack/output/output_folder.h"
#include "tools/pack/output/rank_marks.h"
#include "tools/pack/pack_run.h"

namespace shardmill {
namespace {

constexpr std::chrono::milliseconds kPollPeriod(50);
// How long rank 0 waits for ranks that it has not seen when all shards are finished.
constexpr std::chrono::seconds kRankPatience(5);
constexpr size_t kMissingShown = 5;
constexpr char kRankPurpose[] = "rank ";

class SetWriter {
 public:
  SetWriter(const PackPlan& plan, const PackOptions& options, const SetWriting& writing)
      : plan_(plan), options_(options), writing_(writing), all_(plan.AllShards()) {}

  Result<WrittenSet> Write();

 private:
  FolderUse Use() const;
  void TellWhatIsKept() const;
  Status Build();
  Status BuildBesideOthers(PackRun* run, std::vector<PlannedShard> left);
  Status BuildOne(PackRun* run, const PlannedShard& shard);
  Status BuildClaimed(PackRun* run, const PlannedShard& shard, FolderLock* claim);
  Status CheckAllAreThere() const;
  Status CheckNoneWasRemoved() const;
  Status Report();
  Status Complete();
  // Adds what becomes of the finished shards.
  Status Explain(const Status& status);
  std::string RankText(int rank) const {
    return kRankPurpose + std::to_string(rank) + " of " + std::to_string(writing_.launch.size);
  }
  void WaitForRanks() const;
  void TellOfLostRanks() const;
  bool is_slice() const { return options_.slice.has_value(); }

  const PackPlan& plan_;
  const PackOptions& options_;
  const SetWriting& writing_;
  const std::vector<PlannedShard> all_;
  std::unique_ptr<OutputFolder> folder_;
  std::unique_ptr<Progress> progress_;
  WrittenSet written_;
  bool all_built_ = false;
};

FolderUse SetWriter::Use() const {
  if (options_.finish) return FolderUse::kFinish;
  if (writing_.launch.rank > 0) return FolderUse::kHelper;
  return writing_.launch.size > 1 || is_slice() ? FolderUse::kShared : FolderUse::kWhole;
}

void SetWriter::TellWhatIsKept() const {
  for (const std::string& note : folder_->notes()) writing_.note(note);
  if (folder_->kept().empty() || folder_->complete() || options_.finish) return;
  writing_.note("going on with the pack that was stopped: " + FormatCount(folder_->kept().size()) +
                " of " + FormatCount(all_.size()) + " shards are finished and kept");
}

// A rank that fails leaves its claim as one that is killed does: so rank 0 does not finish the set
// while the launcher ends the job.
Status SetWriter::BuildClaimed(PackRun* run, const PlannedShard& shard, FolderLock* claim) {
  const std::string last_holder = claim->abandoned_by();
  const bool is_job = writing_.launch.size > 1;
  if (is_job && last_holder.find(kRankPurpose) != std::string::npos) {
    claim->Abandon(last_holder);
    if (writing_.launch.rank > 0) return OkStatus();  // rank 0 will tell
    return UnavailableError(last_holder + ", ended before " + plan_.FileNameOf(shard) +
                            " was finished");
  }
  const Status status = run->Pack({shard});
  if (!status.ok() && is_job) claim->Abandon("");
  return status;
}

// OK also when the shard is not finished: another process is at it.
Status SetWriter::BuildOne(PackRun* run, const PlannedShard& shard) {
  RETURN_IF_ERROR(CheckInterrupt());
  if (!folder_->IsFinished(shard)) {
    const Launch& launch = writing_.launch;
    const std::string purpose = launch.size == 1 ? "" : RankText(launch.rank) + JobText(launch);
    ASSIGN_OR_RETURN(std::optional<FolderLock> claim, folder_->Claim(shard, purpose));
    if (!claim.has_value()) return OkStatus();
    // It may have been finished just before it was claimed.
    if (!folder_->IsFinished(shard)) return BuildClaimed(run, shard, &*claim);
  }
  progress_->Add(plan_.InputsOf(shard), 0);
  return OkStatus();
}

// Shards are taken one by one, so that a slow rank makes fewer of them.
Status SetWriter::BuildBesideOthers(PackRun* run, std::vector<PlannedShard> left) {
  while (true) {
    for (const PlannedShard& shard : left) RETURN_IF_ERROR(BuildOne(run, shard));
    left = folder_->Missing(left);
    const bool waits = writing_.launch.rank == 0 && !is_slice();
    if (left.empty() || !waits) break;
    std::this_thread::sleep_for(kPollPeriod);
  }
  for (const PlannedShard& shard : left) {
    const std::string holder = folder_->ClaimHolder(shard);
    writing_.note(plan_.FileNameOf(shard) + " is left to " +
                  (holder.empty() ? "another process" : holder));
  }
  return OkStatus();
}

Status SetWriter::Build() {
  const std::vector<PlannedShard> missing = folder_->Missing(writing_.shards);
  uint64_t inputs = 0;
  for (const PlannedShard& shard : missing) inputs += plan_.InputsOf(shard);
  progress_ = writing_.start_progress(inputs);
  PackRun run(plan_, options_, writing_.threads, folder_->shard_folder(), progress_.get());
  const Status status =
      Use() == FolderUse::kWhole ? run.Pack(missing) : BuildBesideOthers(&run, missing);
  written_.result.unknown_labels = run.UnknownLabels();
  written_.result.not_finite_example = run.NotFiniteExample();
  return status;
}

Status SetWriter::CheckAllAreThere() const {
  const std::vector<PlannedShard> missing = folder_->Missing(all_);
  if (missing.empty()) return OkStatus();
  std::string names;
  for (size_t i = 0; i < std::min(missing.size(), kMissingShown); ++i) {
    const auto place = std::find_if(all_.begin(), all_.end(), [&](const PlannedShard& shard) {
      return shard.split == missing[i].split && shard.number == missing[i].number;
    });
    names += "\n  " + plan_.FileNameOf(missing[i]) + ": --shards " +
             std::to_string(place - all_.begin());
  }
  if (missing.size() > kMissingShown) names += "\n  …";
  return NotFoundError(FormatCount(missing.size()) + " of " + FormatCount(all_.size()) +
                       " shards are missing in " + options_.output +
                       ", damaged, or made of inputs that have changed since:" + names +
                       "\nMake them first, with the same options and --shards in the place of "
                       "--finish.");
}

// All were finished, so the folder is at fault, not the data.
Status SetWriter::CheckNoneWasRemoved() const {
  const std::vector<PlannedShard> missing = folder_->Missing(all_);
  if (missing.empty()) return OkStatus();
  return IoError(plan_.FileNameOf(missing.front()) + " was finished, and is gone from " +
                 folder_->shard_folder() + ": something else removes files there; pack again");
}

// Whoever comes later finds the set complete; but one that never comes has died on its way.
void SetWriter::WaitForRanks() const {
  const auto give_up = std::chrono::steady_clock::now() + kRankPatience;
  for (int rank = 1; rank < writing_.launch.size; ++rank) {
    while (PresenceOfRank(options_.output, writing_.launch, rank) == RankPresence::kNeverCame &&
           std::chrono::steady_clock::now() < give_up && !WasInterrupted()) {
      std::this_thread::sleep_for(kPollPeriod);
    }
  }
}

// The set is whole without them: a shard that one of them had begun would have ended the pack.
void SetWriter::TellOfLostRanks() const {
  for (int rank = 1; rank < writing_.launch.size; ++rank) {
    const RankPresence presence = PresenceOfRank(options_.output, writing_.launch, rank);
    if (presence == RankPresence::kLeft) continue;
    writing_.note(RankText(rank) +
                  (presence == RankPresence::kCame ? " ended before all shards were finished"
                                                   : " has not come to " + options_.output) +
                  ": it may have died; the others made its shards");
  }
}

Status SetWriter::Report() {
  std::vector<PlannedShard> finished;
  for (const PlannedShard& shard : writing_.shards) {
    if (folder_->IsFinished(shard)) finished.push_back(shard);
  }
  for (const PlannedShard& shard : folder_->Missing(all_)) {
    written_.missing.push_back(plan_.FileNameOf(shard));
  }
  std::string unknown_labels = std::move(written_.result.unknown_labels);
  std::string not_finite_example = std::move(written_.result.not_finite_example);
  ASSIGN_OR_RETURN(written_.result, ReadPackResult(plan_, finished, folder_->shard_folder()));
  written_.result.unknown_labels = std::move(unknown_labels);
  written_.result.not_finite_example = std::move(not_finite_example);
  for (const PlannedShard& kept : folder_->kept()) {
    written_.result.kept_shards +=
        std::any_of(finished.begin(), finished.end(), [&](const PlannedShard& shard) {
          return shard.split == kept.split && shard.number == kept.number;
        });
  }
  return OkStatus();
}

Status SetWriter::Complete() {
  if (options_.finish) {
    RETURN_IF_ERROR(CheckAllAreThere());
  } else {
    RETURN_IF_ERROR(Build());
    if (writing_.launch.rank > 0) return OkStatus();
  }
  if (is_slice()) return Report();
  if (Use() == FolderUse::kShared) {
    WaitForRanks();
    RETURN_IF_ERROR(folder_->WaitForOthers());
    TellOfLostRanks();
  }
  RETURN_IF_ERROR(CheckNoneWasRemoved());
  RETURN_IF_ERROR(Report());
  RETURN_IF_ERROR(CheckNoSplitIsEmpty(written_.result));
  all_built_ = true;
  // The same command goes on from here once more may be skipped, or when inputs were corrected.
  // Who gives no limit wants what is left.
  const std::optional<uint64_t>& limit = options_.on_error.limit;
  written_.held_back =
      folder_->replaces() && limit.has_value() && written_.result.faulty() > *limit;
  if (written_.held_back) return OkStatus();
  RETURN_IF_ERROR(folder_->Publish());
  progress_.reset();
  writing_.write_report(written_.result);
  RETURN_IF_ERROR(folder_->End());
  written_.complete = true;
  return OkStatus();
}

Status SetWriter::Explain(const Status& status) {
  // Shards of inputs that must change first will never belong to a set. An input that is gone may
  // come back, as a disk does; and what is wrong with the set as a whole is no fault of an input.
  const bool hopeless = !all_built_ && (status.code() == StatusCode::kDataLoss ||
                                        status.code() == StatusCode::kInvalidArgument);
  if (hopeless && Use() == FolderUse::kWhole) {
    folder_->Discard();
    return status;
  }
  if (hopeless || options_.finish || writing_.launch.rank > 0) return status;
  const size_t finished = all_.size() - folder_->Missing(all_).size();
  if (finished == 0) return status;
  // The set of the changed inputs is another one.
  const char* way_on = IsChangedError(status)
                           ? " shards are finished, of the inputs as they were; where this one "
                             "stays changed, pack anew with --overwrite."
                           : " shards are finished; the same command goes on from there.";
  return Status(status.code(), status.message() + "\n" + FormatCount(finished) + " of " +
                                   FormatCount(all_.size()) + way_on);
}

Result<WrittenSet> SetWriter::Write() {
  ASSIGN_OR_RETURN(folder_, OutputFolder::Open(plan_, options_, Use(), writing_.launch));
  written_.helped = writing_.launch.rank > 0;
  if (folder_->complete() && written_.helped) return std::move(written_);
  TellWhatIsKept();
  if (folder_->complete()) {
    RETURN_IF_ERROR(Report());
    written_.complete = written_.was_there = true;
    return std::move(written_);
  }
  const auto mark = [this](RankPresence presence) {
    return written_.helped ? MarkRank(options_.output, writing_.launch, presence) : OkStatus();
  };
  Status status = mark(RankPresence::kCame);
  if (status.ok()) status = Complete();
  if (status.ok()) status = mark(RankPresence::kLeft);
  progress_.reset();
  // The words of a pipeline that was stopped say less than the signal that stopped it.
  if (status.code() == StatusCode::kCancelled && WasInterrupted()) status = CheckInterrupt();
  if (!status.ok()) return Explain(status);
  return std::move(written_);
}

}  // namespace

Result<WrittenSet> WriteSet(const PackPlan& plan, const PackOptions& options,
                            const SetWriting& writing) {
  return SetWriter(plan, options, writing).Write();
}

}  // namespace shardmill
