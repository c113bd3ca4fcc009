#include "tools/salvage/salvage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
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
#include "reader/verify_run.h"
#include "tools/salvage/choose_source.h"
#include "tools/salvage/salvage_plan.h"
#include "tools/salvage/salvage_shard.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

// A folder that gets its name when it is complete, and goes away when that does not happen.
class PendingFolder {
 public:
  static Result<std::unique_ptr<PendingFolder>> Create(const std::string& path) {
    constexpr int kAttempts = 100;
    const std::string base = path + ".tmp-" + std::to_string(::getpid());
    for (int attempt = 0;; ++attempt) {
      // One of that name may be in use on another host or a remnant; it is not ours to remove.
      const std::string pending = attempt == 0 ? base : base + "-" + std::to_string(attempt);
      if (::mkdir(pending.c_str(), 0777) == 0) {
        return std::unique_ptr<PendingFolder>(new PendingFolder(path, pending));
      }
      if (errno != EEXIST || attempt + 1 == kAttempts) {
        return ErrnoError("cannot create " + pending, errno);
      }
    }
  }
  ~PendingFolder() {
    std::error_code ignored;
    if (!pending_.empty()) fs::remove_all(pending_, ignored);
  }

  const std::string& path() const { return pending_; }

  Status Commit() {
    int result = ::renameat2(AT_FDCWD, pending_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE);
    // Some file systems do not know the flag; a folder that is not empty is then refused still.
    if (result != 0 && (errno == EINVAL || errno == ENOSYS)) {
      result = ::rename(pending_.c_str(), path_.c_str());
    }
    if (result != 0) return ErrnoError("cannot rename " + pending_ + " to " + path_, errno);
    pending_.clear();
    return SyncFolder(FolderName(path_));
  }

 private:
  PendingFolder(std::string path, std::string pending)
      : path_(std::move(path)), pending_(std::move(pending)) {}

  std::string path_;
  std::string pending_;  // empty: committed
};

class Salvager {
 public:
  Salvager(SalvagePlan plan, const SalvageOptions& options)
      : plan_(std::move(plan)), options_(options) {}

  Result<SalvageReport> Run(const std::string& out) {
    RETURN_IF_ERROR(VerifyShards());
    ListLosses();
    report_.source_id = plan_.dataset_id;
    report_.has_manifest = plan_.has_manifest;
    const bool is_the_same = plan_.has_manifest && report_.losses.empty();
    report_.dataset_id = is_the_same ? plan_.dataset_id : NewId();
    report_.remarks = plan_.remarks;
    ASSIGN_OR_RETURN(const std::unique_ptr<PendingFolder> folder, PendingFolder::Create(out));
    RETURN_IF_ERROR(CopyShards(folder->path()));
    ASSIGN_OR_RETURN(const proto::Manifest manifest, RebuildManifest(folder->path()));
    RETURN_IF_ERROR(WriteManifest(folder->path(), manifest));
    RETURN_IF_ERROR(folder->Commit());
    return std::move(report_);
  }

 private:
  // Of each shard of the plan; null: there is no file.
  ShardReport* ReportOf(size_t shard) {
    return places_[shard] < 0 ? nullptr : &run_.shards[static_cast<size_t>(places_[shard])];
  }

  Status VerifyShards() {
    std::vector<std::string> paths;
    for (const SalvageShard& shard : plan_.shards) {
      for (const SalvageSource& source : shard.sources) paths.push_back(source.path);
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
    ASSIGN_OR_RETURN(run_,
                     RunVerification(paths, {&plan_.schema, plan_.dataset_id}, verify, &range));
    ChooseSources();
    ASSIGN_OR_RETURN(const std::vector<DuplicateKey> duplicates,
                     FindDuplicateKeys(run_.shards, verify, std::move(run_.keys)));
    LoseDuplicates(duplicates);
    return OkStatus();
  }

  void ChooseSources() {
    std::vector<ShardReport*> candidates;
    for (const SalvageShard& shard : plan_.shards) {
      const size_t first = candidates.size();
      for (const SalvageSource& source : shard.sources) {
        ShardReport* report = &run_.shards[candidates.size()];
        LoseRefused(source, report);
        candidates.push_back(report);
      }
      const std::vector<ShardReport*> of_shard(candidates.begin() + static_cast<int>(first),
                                               candidates.end());
      const int best = ChooseSource(shard, of_shard, &plan_.remarks);
      places_.push_back(best < 0 ? -1 : static_cast<int>(first) + best);
    }
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

  static void LoseRefused(const SalvageSource& source, ShardReport* report) {
    if (!source.refusal.empty()) LoseWholeShard(source.refusal, report);
    if (!report->has_foreign_part) return;
    LoseWholeShard(
        "the digest of the shard differs although all its parts are sound: one of its blocks may "
        "be that of another split",
        report);
  }

  void ListLosses() {
    for (size_t i = 0; i < plan_.shards.size(); ++i) {
      std::vector<Loss> losses =
          LossesOf(plan_.shards[i], ReportOf(i), plan_.folder, options_.access, plan_.schema);
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

  Status CopyShards(const std::string& folder) {
    results_.resize(plan_.shards.size());
    statuses_.resize(plan_.shards.size());
    const size_t threads = std::min(static_cast<size_t>(std::max(options_.threads, 1)),
                                    std::max<size_t>(plan_.shards.size(), 1));
    RETURN_IF_ERROR(RunOnThreads(static_cast<int>(threads), [&](int) {
      CopyNext(folder);
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

  void CopyNext(const std::string& folder) {
    CopyOptions options;
    options.folder = folder;
    options.dataset_id = report_.dataset_id;
    options.access = options_.access;
    options.advance = [this](uint64_t bytes) { return Advance(bytes); };
    while (!failed_) {
      const size_t index = next_.fetch_add(1);
      if (index >= plan_.shards.size()) return;
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
  std::vector<int> places_;  // of the shards of the plan in run_; -1: there is no file
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
  return Salvager(std::move(plan), options).Run(target);
}

}  // namespace shardmill
