#include "tools/pack/output/output_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "proto/manifest.pb.h"
#include "reader/base/file.h"
#include "reader/base/interrupt.h"
#include "reader/console/units.h"
#include "reader/manifest.h"
#include "reader/names.h"
#include "reader/verify.h"
#include "tools/pack/output/finished_set.h"
#include "tools/pack/output/finished_shard.h"
#include "tools/pack/output/foreign_shards.h"
#include "tools/pack/output/incoming_set.h"
#include "tools/pack/output/rank_marks.h"
#include "tools/pack/output/shard_files.h"
#include "tools/pack/report/report_file.h"

namespace shardmill {
namespace {

constexpr std::chrono::milliseconds kPollPeriod(50);
// How long a helper with --overwrite waits for rank 0 to begin before it takes a complete set of
// the same inputs for the one that rank 0 has just finished.
constexpr std::chrono::seconds kHelperPatience(5);
constexpr char kWholePack[] = "a whole pack";

bool HasManifest(const std::string& folder) {
  return FileExists(JoinPath(folder, std::string(kManifestFileName)));
}

// On a network file system a file that another host made is seen for certain once its folder has
// been opened anew.
void RefreshFolder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) ::close(descriptor);
}

std::string ShardsThatAreThere(size_t count) {
  return FormatCount(count) +
         (count == 1 ? " shard that is there is" : " shards that are there are");
}

// Whether a claim or a mark is that of a rank of the job.
bool IsOfJob(const std::string& path, const std::string& job) {
  constexpr uint64_t kMaxTextBytes = 4096;
  if (job.empty()) return false;
  const Result<std::string> text = ReadFile(path, kMaxTextBytes);
  return text.ok() && text->find(job + "\n") != std::string::npos;
}

}  // namespace

OutputFolder::OutputFolder(const PackPlan& plan, const PackOptions& options, FolderUse use,
                           const Launch& launch, bool made_folder)
    : plan_(plan),
      options_(options),
      use_(use),
      launch_(launch),
      path_(options.output),
      made_(made_folder),
      shard_folder_(options.output) {}

Result<std::unique_ptr<OutputFolder>> OutputFolder::Open(const PackPlan& plan,
                                                         const PackOptions& options, FolderUse use,
                                                         const Launch& launch) {
  std::error_code error;
  if (use == FolderUse::kFinish && !std::filesystem::is_directory(options.output, error)) {
    return NotFoundError("there is no folder " + options.output +
                         "; make the shards first, with the same options and --shards in the "
                         "place of --finish");
  }
  const bool made =
      use != FolderUse::kFinish && std::filesystem::create_directories(options.output, error);
  if (error) {
    const Status status = ErrnoError("cannot make folder " + options.output, error.value());
    return IoError(status.message() + "; choose another one for -o");
  }
  std::unique_ptr<OutputFolder> folder(new OutputFolder(plan, options, use, launch, made));
  RETURN_IF_ERROR(folder->Enter());
  return folder;
}

Status OutputFolder::Enter() {
  const bool shares = use_ == FolderUse::kShared || use_ == FolderUse::kHelper;
  const auto give_up = std::chrono::steady_clock::now() + kHelperPatience;
  while (true) {
    RETURN_IF_ERROR(CheckInterrupt());
    ASSIGN_OR_RETURN(bool entered, TryEnterAlone());
    if (entered) return OkStatus();
    if (!shares) return RefuseLocked();
    ASSIGN_OR_RETURN(entered, TryEnterShared());
    if (entered) return OkStatus();
    if (FolderLock::Holders(path_).find(kWholePack) != std::string::npos) return RefuseLocked();
    if (use_ == FolderUse::kHelper && std::chrono::steady_clock::now() > give_up) {
      ASSIGN_OR_RETURN(complete_, IsCompleteAlready());
      if (complete_) return OkStatus();
    }
    std::this_thread::sleep_for(kPollPeriod);
  }
}

Status OutputFolder::RefuseLocked() const {
  const std::string holders = FolderLock::Holders(path_);
  return InvalidArgumentError("another pack is writing to " + path_ +
                              (holders.empty() ? "" : " (" + holders + ")") +
                              "; wait for it or choose another folder");
}

Result<bool> OutputFolder::IsCompleteAlready() {
  const Result<proto::Manifest> manifest = ReadManifest(path_);
  return manifest.ok() && manifest->dataset_id() == DigestToHex(plan_.dataset_id);
}

Result<bool> OutputFolder::TryEnterAlone() {
  const bool whole = use_ == FolderUse::kWhole || use_ == FolderUse::kFinish;
  ASSIGN_OR_RETURN(lock_, FolderLock::TryAcquire(path_, LockKind::kAlone, kFolderLockName,
                                                 whole ? kWholePack : ""));
  if (!lock_.has_value()) return false;
  ASSIGN_OR_RETURN(const bool cut, FinishCutReplacement(path_));
  if (cut) {
    notes_.push_back("a pack with --overwrite was stopped while its data set took its place in " +
                     path_ + "; that is finished now");
  }
  if (use_ == FolderUse::kHelper) {
    ASSIGN_OR_RETURN(const bool complete, IsCompleteAlready());
    // An old set of the same inputs looks the same as the one that rank 0 has just finished: only
    // rank 0 begins to replace it.
    if (complete && options_.overwrite && !FileExists(IncomingFolder(path_))) {
      lock_.reset();
      return false;
    }
    complete_ = complete && !options_.overwrite;
    if (complete_) return true;
  }
  PackState now = MakePackState(plan_, options_);
  RETURN_IF_ERROR(ChooseFolder(now));
  if (complete_) {
    RETURN_IF_ERROR(RemoveLeftovers(path_, JobText(launch_)));
    return true;
  }
  RETURN_IF_ERROR(TakeStock(std::move(now)));
  if (!whole) RETURN_IF_ERROR(lock_->MakeShared());
  return true;
}

Result<bool> OutputFolder::TryEnterShared() {
  ASSIGN_OR_RETURN(lock_, FolderLock::TryAcquire(path_, LockKind::kShared));
  if (!lock_.has_value()) return false;
  RefreshFolder(path_);
  const std::string incoming = IncomingFolder(path_);
  const bool replaces = options_.overwrite && FileExists(JoinPath(incoming, kPackStateName));
  shard_folder_ = replaces ? incoming : path_;
  ASSIGN_OR_RETURN(const StoredState stored, ReadPackState(shard_folder_));
  const std::optional<PackState>& state = stored.state;
  if (!state.has_value()) {
    lock_.reset();
    return false;
  }
  const PackState now = MakePackState(plan_, options_);
  if (SameSet(*state, now)) {
    FindKept(*state);
    return true;
  }
  return InvalidArgumentError("other processes are packing another data set into " + path_ + " (" +
                              FolderLock::Holders(path_) + "):" + DescribeDifference(*state, now) +
                              "\nWait for them or choose another folder.");
}

// Another process has taken stock.
void OutputFolder::FindKept(const PackState& state) {
  for (const PlannedShard& shard : plan_.AllShards()) {
    const auto found = state.shards.find(plan_.FileNameOf(shard));
    if (found != state.shards.end() && found->second.kept) kept_.push_back(shard);
  }
}

Status OutputFolder::ChooseFolder(const PackState& now) {
  ASSIGN_OR_RETURN(StoredState growing, ReadPackState(IncomingFolder(path_)));
  if (growing.state.has_value() && options_.overwrite && SameSet(*growing.state, now)) {
    shard_folder_ = IncomingFolder(path_);
    before_ = std::move(growing.state);
    return LookAtOldSet();
  }
  ASSIGN_OR_RETURN(StoredState here, ReadPackState(path_));
  // A set that is complete but for its report is not touched for inputs that changed since.
  if (here.state.has_value() && SameSet(*here.state, now) &&
      (!HasManifest(path_) || FindChanges(plan_, *here.state, now).inputs == 0)) {
    before_ = std::move(here.state);
    return OkStatus();
  }
  if (HasManifest(path_)) {
    complete_ = LookForFinishedSet(here, growing);
    return complete_ ? OkStatus() : LeaveOldSet(OldSetRefusal(growing, now), growing);
  }
  if (here.state.has_value()) {
    return LeaveOldSet(
        path_ + " holds an unfinished data set that this command cannot go on with:" +
            DescribeDifference(*here.state, now) +
            (here.state->settings == now.settings
                 ? "\nUnless these inputs become again what they were, pack anew with --overwrite, "
                   "or choose another folder."
                 : "\nRepeat the command that began it, pack anew with --overwrite, or choose "
                   "another folder."),
        growing);
  }
  return ChooseWithoutState(here, growing);
}

// As a pack leaves it that was killed after its last step, or that is given once more.
bool OutputFolder::LookForFinishedSet(const StoredState& here, const StoredState& growing) {
  const bool is_other_work = use_ == FolderUse::kFinish && growing.exists;
  if (options_.overwrite || options_.slice.has_value() || here.exists || is_other_work) {
    return false;
  }
  FinishedSet set = FindFinishedSet(plan_, options_, path_);
  changed_key_ = std::move(set.changed_key);
  if (!set.is_there) return false;
  kept_ = plan_.AllShards();
  notes_.push_back(path_ +
                   " holds this data set already, complete and made of the same inputs with the "
                   "same options: nothing is to be done (--overwrite makes it anew)");
  if (growing.exists) notes_.push_back(StoppedReplacement());
  return true;
}

// Nothing says what the shards are that may lie there.
Status OutputFolder::ChooseWithoutState(const StoredState& here, const StoredState& growing) {
  if (growing.exists && !options_.overwrite) {
    return InvalidArgumentError("a pack with --overwrite was stopped in " + path_ +
                                "; the same command with --overwrite goes on with it");
  }
  if (use_ == FolderUse::kFinish) {
    const std::string what =
        here.damaged() ? path_ + ": " + kPackStateName +
                             " is damaged, so it is not known whether inputs have changed; make "
                             "its shards again"
                       : path_ + " holds no unfinished data set; make its shards first";
    return NotFoundError(what + ", with the same options and --shards in the place of --finish");
  }
  const std::string report = JoinPath(path_, kReportFileName);
  if (!here.exists && !options_.overwrite && FileExists(report)) {
    return InvalidArgumentError(report +
                                " is there, and no data set that it tells of; move it away, or "
                                "have it replaced with --overwrite");
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   ShardFileNames(path_, ShardFileKind::kShards));
  const std::vector<std::string> foreign = ForeignShards(
      plan_, path_, names, here.exists ? FolderPast::kStoppedPack : FolderPast::kUnknown);
  if (foreign.empty()) return OkStatus();
  return LeaveOldSet(
      path_ + " holds shards of another data set, such as " + foreign.front() +
          ", without a manifest; replace them with --overwrite or choose another folder",
      growing);
}

std::string OutputFolder::StoppedReplacement() const {
  return "A pack with --overwrite that was to replace it was stopped: the command that began it "
         "goes on with it, and removing " +
         IncomingFolder(path_) + " drops it";
}

std::string OutputFolder::OldSetRefusal(const StoredState& growing, const PackState& now) const {
  const std::string holds =
      path_ + " holds a data set already" +
      (changed_key_.empty()
           ? ""
           : ", and " + changed_key_ + " was changed, or copied there, since it was packed");
  if (use_ != FolderUse::kFinish) {
    return holds + "; replace it with --overwrite or choose another folder" +
           (growing.exists ? ". " + StoppedReplacement() : "");
  }
  if (!growing.exists) {
    return holds +
           ", and no shards that are to replace it; make them first, with --overwrite and "
           "--shards in the place of --finish";
  }
  if (!options_.overwrite) {
    return holds +
           "; shards that are to replace it are there: finish them with --overwrite, as "
           "they were made";
  }
  return holds + ", and this command cannot finish the shards that are to replace it:" +
         (growing.state.has_value() ? DescribeDifference(*growing.state, now)
                                    : "\n  " + std::string(kPackStateName) + " is damaged");
}

// What is there stays until the new set is complete, or for ever.
Status OutputFolder::LeaveOldSet(const std::string& refusal, const StoredState& growing) {
  if (!options_.overwrite || use_ == FolderUse::kFinish) return InvalidArgumentError(refusal);
  if (FileExists(IncomingFolder(path_))) {
    notes_.push_back(growing.damaged()
                         ? "the unfinished data set in " + IncomingFolder(path_) +
                               " is thrown away: its " + kPackStateName +
                               " is damaged, so it is not known whether inputs have changed"
                         : "an unfinished data set of other inputs or options is thrown away");
  }
  shard_folder_ = IncomingFolder(path_);
  RETURN_IF_ERROR(LookAtOldSet());
  // The old set is complete: nobody has to go on with it.
  if (HasManifest(path_)) RETURN_IF_ERROR(RemoveFile(JoinPath(path_, kPackStateName)));
  return StartIncoming(path_);
}

Status OutputFolder::LookAtOldSet() {
  // Better now than in the middle of the replacement.
  RETURN_IF_ERROR(CheckRemovable(path_));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, UnnamedShards(path_));
  if (!names.empty()) {
    notes_.push_back("--overwrite will remove " + DescribeShards(names) + " from " + path_ +
                     " too, which no manifest names");
  }
  return OkStatus();
}

// Its digest, when it is the shard that was made, sound, and of this command.
std::optional<Digest> OutputFolder::CanBeKept(const PlannedShard& shard) const {
  const std::string name = plan_.FileNameOf(shard);
  const auto made = before_->shards.find(name);
  if (made == before_->shards.end()) return std::nullopt;
  const Result<FinishedShard> finished = ReadFinishedShard(plan_, shard, shard_folder_);
  if (!finished.ok() || finished->digest != made->second.digest) return std::nullopt;
  // A power cut or a bad disk may have damaged it since.
  const Result<VerifyReport> report = Verify(JoinPath(shard_folder_, name), VerifyOptions());
  if (!report.ok() || !report->sound()) return std::nullopt;
  if (!KeepsTo(options_.on_error, *finished)) return std::nullopt;
  return finished->digest;
}

Status OutputFolder::TakeStock(PackState now) {
  ASSIGN_OR_RETURN(std::vector<std::string> stale,
                   ShardFileNames(shard_folder_, ShardFileKind::kShards));
  const bool stopped = FileExists(JoinPath(shard_folder_, kPackStateName));
  RETURN_IF_ERROR(JudgeForeign(ForeignShards(
      plan_, shard_folder_, stale, stopped ? FolderPast::kStoppedPack : FolderPast::kUnknown)));
  const std::vector<PlannedShard> shards = plan_.AllShards();
  std::vector<bool> changed(shards.size(), !before_.has_value());
  if (before_.has_value()) {
    ShardChanges changes = FindChanges(plan_, *before_, now);
    changed = std::move(changes.shards);
    if (changes.inputs > 0) {
      notes_.push_back(FormatCount(changes.inputs) + " inputs were changed since the pack was " +
                       "stopped, such as " + changes.first_key + "; their shards are not kept");
    }
  }
  size_t of_changed = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    const auto name = std::lower_bound(stale.begin(), stale.end(), plan_.FileNameOf(shards[i]));
    if (name == stale.end() || *name != plan_.FileNameOf(shards[i])) continue;
    of_changed += changed[i];
    if (changed[i]) continue;
    const std::optional<Digest> digest = CanBeKept(shards[i]);
    if (!digest.has_value()) continue;
    kept_.push_back(shards[i]);
    now.shards[*name] = {*digest, true};
    stale.erase(name);
  }
  NoteStale(stale.size(), of_changed);
  before_.reset();
  if (use_ == FolderUse::kFinish) {
    unusable_ = std::move(stale);
    return OkStatus();
  }
  return CleanUp(stale, now);
}

// Only what is certainly of this set may be removed unasked.
Status OutputFolder::JudgeForeign(const std::vector<std::string>& foreign) {
  if (foreign.empty()) return OkStatus();
  const std::string what = DescribeShards(foreign);
  if (!options_.overwrite || use_ == FolderUse::kFinish) {
    return InvalidArgumentError(
        shard_folder_ + " holds " + what +
        ", which the pack that was stopped there has not made; move what does not belong to this "
        "data set away, or have it removed with --overwrite");
  }
  notes_.push_back("--overwrite removes " + what + " from " + shard_folder_ +
                   ", not made by the pack that was stopped there");
  return OkStatus();
}

// Finished shards that are made again cost time: why they are.
void OutputFolder::NoteStale(size_t stale, size_t of_changed) {
  if (stale == 0) return;
  if (!before_.has_value()) {
    const std::string state = JoinPath(shard_folder_, kPackStateName);
    notes_.push_back((FileExists(state) ? state + " is damaged" : "there is no " + state) +
                     ", so it is not known whether inputs have changed since: " +
                     ShardsThatAreThere(stale) + " not kept");
  } else if (stale > of_changed) {
    notes_.push_back(ShardsThatAreThere(stale - of_changed) +
                     " damaged, or not what was packed, and not kept");
  }
}

// Only when nothing stale is left may the state say what the shards are made of.
Status OutputFolder::CleanUp(const std::vector<std::string>& stale, const PackState& now) {
  RETURN_IF_ERROR(RemoveFiles(shard_folder_, stale));
  // What a rank of this job left behind says that it has died.
  for (const std::string& folder : {path_, shard_folder_}) {
    RETURN_IF_ERROR(RemoveLeftovers(folder, JobText(launch_)));
  }
  RETURN_IF_ERROR(SyncFolder(shard_folder_));
  return WritePackState(shard_folder_, now);
}

Status OutputFolder::RemoveLeftovers(const std::string& folder, const std::string& job_to_keep) {
  const std::vector<std::string> planned = PlannedNames(plan_);
  ASSIGN_OR_RETURN(const std::vector<std::string> leftovers,
                   ShardFileNames(folder, ShardFileKind::kLeftovers));
  for (const std::string& leftover : leftovers) {
    const std::string name = FinalNameOf(leftover);
    // Those of other shards may be somebody else's.
    const bool is_ours = options_.overwrite || !ParseShardFileName(name).has_value() ||
                         std::binary_search(planned.begin(), planned.end(), name);
    const std::string path = JoinPath(folder, leftover);
    if (is_ours && !IsOfJob(path, job_to_keep)) RETURN_IF_ERROR(RemoveFile(path));
  }
  return OkStatus();
}

bool OutputFolder::IsFinished(const PlannedShard& shard) const {
  const std::string name = plan_.FileNameOf(shard);
  RefreshFolder(shard_folder_);
  if (std::binary_search(unusable_.begin(), unusable_.end(), name)) return false;
  return FileExists(JoinPath(shard_folder_, name));
}

std::vector<PlannedShard> OutputFolder::Missing(const std::vector<PlannedShard>& shards) const {
  std::vector<PlannedShard> missing;
  for (const PlannedShard& shard : shards) {
    if (!IsFinished(shard)) missing.push_back(shard);
  }
  return missing;
}

Result<std::optional<FolderLock>> OutputFolder::Claim(const PlannedShard& shard,
                                                      const std::string& purpose) const {
  return FolderLock::TryAcquire(shard_folder_, LockKind::kAlone, ClaimName(plan_.FileNameOf(shard)),
                                purpose);
}

std::string OutputFolder::ClaimHolder(const PlannedShard& shard) const {
  return FolderLock::Holders(shard_folder_, ClaimName(plan_.FileNameOf(shard)));
}

Status OutputFolder::WaitForOthers() {
  while (true) {
    RETURN_IF_ERROR(CheckInterrupt());
    ASSIGN_OR_RETURN(const bool alone, lock_->TryMakeAlone());
    if (alone) return OkStatus();
    std::this_thread::sleep_for(kPollPeriod);
  }
}

Status OutputFolder::Publish() {
  // Reading back what the new shards say of themselves, before the old set is touched.
  ASSIGN_OR_RETURN(proto::Manifest manifest, RebuildManifest(shard_folder_));
  RETURN_IF_ERROR(WriteManifest(shard_folder_, std::move(manifest)));
  if (shard_folder_ != path_) {
    RETURN_IF_ERROR(ReplaceByIncoming(path_));
    shard_folder_ = path_;
  }
  RemoveIncoming(path_);
  return OkStatus();
}

Status OutputFolder::End() {
  RETURN_IF_ERROR(RemoveLeftovers(path_, ""));
  return RemoveFile(JoinPath(path_, kPackStateName));
}

void OutputFolder::Discard() {
  if (use_ != FolderUse::kWhole) return;
  if (shard_folder_ != path_) {
    RemoveIncoming(path_);
    return;
  }
  if (HasManifest(path_)) return;  // it was complete before this command
  (void)RemoveFiles(path_, PlannedNames(plan_)).ok();
  (void)RemoveFile(JoinPath(path_, kPackStateName)).ok();
  lock_->Release();
  if (made_) ::rmdir(path_.c_str());
}

}  // namespace shardmill
