#include "tools/salvage/salvage.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/file.h"
#include "reader/base/little_endian.h"
#include "reader/base/run_on_threads.h"
#include "reader/duplicate_keys.h"
#include "reader/manifest.h"
#include "reader/named_shards.h"
#include "reader/verify_run.h"
#include "tools/salvage/choose_source.h"
#include "tools/salvage/lost_footers.h"
#include "tools/salvage/mend_copies.h"
#include "tools/salvage/pending_folder.h"
#include "tools/salvage/salvage_plan.h"
#include "tools/salvage/salvage_shard.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

class Salvager {
 public:
  // `folder` is where the new set is written to.
  Salvager(SalvagePlan plan, const SalvageOptions& options, std::string folder)
      : plan_(std::move(plan)),
        options_(options),
        folder_(std::move(folder)),
        mended_(JoinPath(folder_, kMendedName)) {}

  Result<SalvageReport> Run() {
    RETURN_IF_ERROR(VerifyShards());
    RestoreLostFooters();
    ListLosses();
    if (!report_.losses.empty()) RETURN_IF_ERROR(FindReplacement());
    report_.source_id = plan_.dataset_id;
    report_.has_manifest = plan_.manifest != nullptr;
    const bool is_the_same = report_.has_manifest && report_.losses.empty();
    report_.dataset_id = is_the_same ? plan_.dataset_id : NewId();
    report_.remarks = plan_.remarks;
    RETURN_IF_ERROR(CopyShards());
    RETURN_IF_ERROR(mended_.Remove());
    ASSIGN_OR_RETURN(const proto::Manifest manifest, RebuildManifest(folder_));
    RETURN_IF_ERROR(WriteManifest(folder_, manifest));
    return std::move(report_);
  }

 private:
  // What a pack has put in the place of the set meanwhile is no loss.
  Status FindReplacement() const {
    if (plan_.manifest == nullptr) return OkStatus();
    const Status status = ExplainByReplacement(plan_.folder, *plan_.manifest, DataLossError(""));
    return status.code() == StatusCode::kDataLoss ? OkStatus() : status;
  }

  // Of each shard of the plan; null: there is no file.
  ShardReport* ReportOf(size_t shard) {
    return places_[shard] < 0 ? nullptr : &run_.shards[static_cast<size_t>(places_[shard])];
  }

  Status VerifyShards() {
    std::vector<std::string> paths;
    for (const SalvageShard& shard : plan_.shards) {
      for (const std::string& source : shard.sources) paths.push_back(source);
    }
    VerifyOptions verify;
    verify.threads = options_.threads;
    verify.access = options_.access;
    verify.cancelled = options_.cancelled;
    // The other half of the work is copying.
    verify.progress = [&](uint64_t done, uint64_t total) {
      done_bytes_ = done;
      total_bytes_ = 2 * total;
      if (options_.progress) options_.progress(done_bytes_, total_bytes_);
    };
    HashRange range(0, verify.max_keys_in_memory);
    const ShardFallback fallback = {&plan_.schema, plan_.dataset_id, plan_.schema_message.get()};
    ASSIGN_OR_RETURN(run_, RunVerification(paths, fallback, verify, &range));
    RETURN_IF_ERROR(ChooseSources([&](const std::vector<std::string>& mended) {
      VerifyOptions again = verify;
      again.progress = nullptr;
      return RunVerification(mended, fallback, again, &range);
    }));
    ASSIGN_OR_RETURN(const std::vector<DuplicateKey> duplicates,
                     FindDuplicateKeys(run_.shards, verify, std::move(run_.keys)));
    LoseDuplicates(duplicates);
    return OkStatus();
  }

  Status ChooseSources(const MendedCopies::VerifyFiles& verify) {
    std::vector<ShardReport*> candidates;
    for (const SalvageShard& shard : plan_.shards) {
      const size_t first = candidates.size();
      for (size_t i = 0; i < shard.sources.size(); ++i) {
        ShardReport* report = &run_.shards[candidates.size()];
        const std::string refusal = WhyRefused(shard, *report);
        if (!refusal.empty()) LoseWholeShard(refusal, report);
        candidates.push_back(report);
      }
      const std::vector<ShardReport*> of_shard(candidates.begin() + static_cast<int>(first),
                                               candidates.end());
      const int best = ChooseSource(shard, of_shard);
      places_.push_back(best < 0 ? -1 : static_cast<int>(first) + best);
      if (best < 0) continue;
      ASSIGN_OR_RETURN(std::optional<MendedShard> mended,
                       TryToMend(shard, of_shard, static_cast<size_t>(best), verify));
      LeaveOthersAside(shard, of_shard, static_cast<size_t>(best),
                       mended ? mended->used : std::vector<size_t>(), &plan_.remarks);
      if (!mended) continue;
      *of_shard[static_cast<size_t>(best)] = std::move(mended->report);
      std::move(mended->keys.begin(), mended->keys.end(), std::back_inserter(run_.keys));
    }
    return OkStatus();
  }

  // Copies that cannot be united are no reason to lose the rest of the set.
  Result<std::optional<MendedShard>> TryToMend(const SalvageShard& shard,
                                               const std::vector<ShardReport*>& files, size_t best,
                                               const MendedCopies::VerifyFiles& verify) {
    Result<std::optional<MendedShard>> mended =
        mended_.Mend(shard, files, best, plan_.schema, options_.access, verify);
    if (mended.ok() || mended.status().code() == StatusCode::kCancelled) return mended;
    plan_.remarks.push_back(files[best]->path + " could not be united with its copies: " +
                            mended_.NameOriginals(mended.status().message()));
    return std::optional<MendedShard>();
  }

  bool IsLost(const DuplicateKey::Place& place) const {
    const BlockOutcome& block = run_.shards[place.shard].blocks[place.block];
    return block.all_lost || std::binary_search(block.lost.begin(), block.lost.end(), place.index);
  }

  // Of the records that have the same key, the first sound one stays.
  void LoseDuplicates(const std::vector<DuplicateKey>& duplicates) {
    std::set<std::string> kept;
    for (const DuplicateKey& duplicate : duplicates) {
      if (!IsLost(duplicate.first)) kept.insert(duplicate.key);
    }
    for (const DuplicateKey& duplicate : duplicates) {
      if (IsLost(duplicate.place) || kept.insert(duplicate.key).second) continue;
      ShardReport& shard = run_.shards[duplicate.place.shard];
      std::vector<uint32_t>& lost = shard.blocks[duplicate.place.block].lost;
      lost.insert(std::lower_bound(lost.begin(), lost.end(), duplicate.place.index),
                  duplicate.place.index);
      shard.findings.push_back(DuplicateKeyFinding(duplicate, run_.shards));
    }
  }

  void RestoreLostFooters() {
    std::vector<const ShardReport*> reports;
    for (size_t i = 0; i < plan_.shards.size(); ++i) reports.push_back(ReportOf(i));
    restored_ = RestoreFooters(plan_, reports, &plan_.remarks);
  }

  void ListLosses() {
    report_.losses = plan_.losses;
    for (size_t i = 0; i < plan_.shards.size(); ++i) {
      const LossOptions options = {plan_.folder, options_.access, restored_[i].is_known};
      const ShardReport* report = ReportOf(i);
      if (report != nullptr) report_.unproven_records += UnprovenRecords(plan_.shards[i], *report);
      std::vector<Loss> losses = LossesOf(plan_.shards[i], report, plan_.schema, options);
      mended_.NameOriginals(&losses);
      std::move(losses.begin(), losses.end(), std::back_inserter(report_.losses));
    }
    for (const Loss& loss : report_.losses) {
      report_.lost_records += loss.records.value_or(0);
      report_.lost_uncounted = report_.lost_uncounted || !loss.records;
    }
  }

  // Of the id of the source, and for each shard in order: its name, which parts are lost, and for
  // each block of which something is saved the sum of its header and the numbers of the records
  // that are lost.
  Digest NewId() {
    DigestStream stream;
    stream.Update("shardmill salvage\n");
    stream.Update(plan_.dataset_id.data(), plan_.dataset_id.size());
    const auto add = [&](uint64_t number) {
      uint8_t bytes[8];
      StoreU64(number, bytes);
      stream.Update(bytes, sizeof bytes);
    };
    for (size_t i = 0; i < plan_.shards.size(); ++i) {
      const SalvageShard& shard = plan_.shards[i];
      stream.Update(shard.FileName() + "\n");
      const ShardReport* report = ReportOf(i);
      if (report == nullptr || !report->opened) continue;
      if (!report->has_superblock) stream.Update("no superblock\n");
      if (!report->has_footer) stream.Update("no footer\n");
      for (const BlockOutcome& block : report->blocks) {
        if (block.all_lost) continue;
        add(block.header_checksum.value_or(0));
        add(block.lost.size());
        for (const uint32_t index : block.lost) add(index);
      }
    }
    return stream.Value();
  }

  Status CopyShards() {
    results_.resize(plan_.shards.size());
    statuses_.resize(plan_.shards.size());
    const size_t threads = std::min(static_cast<size_t>(std::max(options_.threads, 1)),
                                    std::max<size_t>(plan_.shards.size(), 1));
    RETURN_IF_ERROR(RunOnThreads(static_cast<int>(threads), [&](int) {
      CopyNext();
      return OkStatus();
    }));
    for (const Status& status : statuses_) RETURN_IF_ERROR(status);
    for (const ShardResult& result : results_) {
      ++report_.shards;
      report_.records += result.records;
      report_.bytes += result.bytes;
    }
    return OkStatus();
  }

  void CopyNext() {
    CopyOptions options;
    options.folder = folder_;
    options.dataset_id = report_.dataset_id;
    options.access = options_.access;
    options.advance = [this](uint64_t bytes) { return Advance(bytes); };
    while (!failed_) {
      const size_t index = next_.fetch_add(1);
      if (index >= plan_.shards.size()) return;
      options.restored = restored_[index].is_known ? &restored_[index].summary : nullptr;
      Result<ShardResult> result =
          CopySoundRecords(plan_, plan_.shards[index], ReportOf(index), options);
      if (result.ok()) {
        results_[index] = std::move(result).value();
      } else {
        statuses_[index] = result.status();
        failed_ = true;
      }
    }
  }

  bool Advance(uint64_t bytes) {
    if (options_.cancelled && options_.cancelled()) return false;
    const std::lock_guard<std::mutex> lock(progress_mutex_);
    done_bytes_ = std::min(done_bytes_ + bytes, total_bytes_);
    if (options_.progress) options_.progress(done_bytes_, total_bytes_);
    return true;
  }

  SalvagePlan plan_;
  const SalvageOptions& options_;
  const std::string folder_;
  MendedCopies mended_;
  std::vector<RestoredFooter> restored_;  // of the shards of the plan
  std::vector<int> places_;               // of the shards of the plan in run_; -1: there is no file
  VerifyRun run_;
  SalvageReport report_;
  std::vector<ShardResult> results_;
  std::vector<Status> statuses_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex progress_mutex_;  // guards what follows while shards are copied
  uint64_t done_bytes_ = 0;
  uint64_t total_bytes_ = 0;
};

}  // namespace

Result<SalvageReport> Salvage(const std::string& path, const std::string& out,
                              const SalvageOptions& options) {
  const std::string folder = FileName(path) == kManifestFileName ? FolderName(path) : path;
  std::error_code error;
  if (!fs::exists(fs::status(folder, error))) return NotFoundError(folder + " does not exist");
  if (!fs::is_directory(folder, error)) {
    return InvalidArgumentError("salvaging wants the folder of a data set, not " + path);
  }
  std::string target = out;
  while (target.size() > 1 && target.back() == '/') target.pop_back();
  if (fs::exists(fs::symlink_status(target, error))) {
    return InvalidArgumentError(target + " exists; salvaging writes a new folder");
  }
  ASSIGN_OR_RETURN(SalvagePlan plan, MakeSalvagePlan(folder, options.access));
  ASSIGN_OR_RETURN(const std::unique_ptr<PendingFolder> pending,
                   PendingFolder::Create(target, folder, &plan.remarks));
  ASSIGN_OR_RETURN(SalvageReport report, Salvager(std::move(plan), options, pending->path()).Run());
  RETURN_IF_ERROR(pending->Commit());
  return report;
}

}  // namespace shardmill
