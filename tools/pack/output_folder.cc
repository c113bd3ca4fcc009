#include "tools/pack/output_folder.h"

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
#include "reader/shard_reader.h"
#include "reader/verify.h"
#include "tools/pack/finished_shard.h"
#include "tools/pack/incoming_set.h"
#include "tools/pack/shard_files.h"

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

// The first shard in `folder` that certainly is of another data set, or cannot be read; empty:
// there is none.
Result<std::string> ForeignShard(const std::string& folder, const Digest& dataset_id) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   ShardFileNames(folder, ShardFileKind::kShards));
  for (const std::string& name : names) {
    const auto shard = ShardReader::Open(JoinPath(folder, name), ChecksumPolicy::kOff);
    if (!shard.ok() || (*shard)->dataset_id() != dataset_id) return name;
  }
  return std::string();
}

// Per planned shard, whether a file of its inputs has changed. Both states are of the same set.
std::vector<bool> ChangedShards(const PackPlan& plan, const PackState& then, const PackState& now,
                                std::string* first_key, uint64_t* inputs) {
  std::vector<bool> changed;
  for (const PlannedShard& shard : plan.AllShards()) {
    const SplitPlan& split = plan.splits[shard.split];
    const std::vector<InputState>& before = then.splits[shard.split].inputs;
    const std::vector<InputState>& after = now.splits[shard.split].inputs;
    bool any = false;
    for (uint64_t i = split.ShardBegin(shard.number); i < split.ShardEnd(shard.number); ++i) {
      if (i < before.size() && before[i].key == after[i].key && before[i].times == after[i].times) {
        continue;
      }
      if ((*inputs)++ == 0) *first_key = after[i].key;
      any = true;
    }
    changed.push_back(any);
  }
  return changed;
}

}  // namespace

OutputFolder::OutputFolder(const PackPlan& plan, const PackOptions& options, FolderUse use,
                           bool made_folder)
    : plan_(plan),
      options_(options),
      use_(use),
      path_(options.output),
      made_(made_folder),
      shard_folder_(options.output) {}

Result<std::unique_ptr<OutputFolder>> OutputFolder::Open(const PackPlan& plan,
                                                         const PackOptions& options,
                                                         FolderUse use) {
  std::error_code error;
  const bool made =
      use != FolderUse::kFinish && std::filesystem::create_directories(options.output, error);
  if (error) return ErrnoError("cannot make folder " + options.output, error.value());
  std::unique_ptr<OutputFolder> folder(new OutputFolder(plan, options, use, made));
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
  const PackState now = MakePackState(plan_, options_);
  RETURN_IF_ERROR(ChooseFolder(now));
  RETURN_IF_ERROR(TakeStock(now));
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
  ASSIGN_OR_RETURN(const std::optional<PackState> state, ReadPackState(shard_folder_));
  if (!state.has_value()) {
    lock_.reset();
    return false;
  }
  const PackState now = MakePackState(plan_, options_);
  if (SameSet(*state, now)) {
    FindKept();
    return true;
  }
  return InvalidArgumentError("other processes are packing another data set into " + path_ + " (" +
                              FolderLock::Holders(path_) + "):" + DescribeDifference(*state, now) +
                              "\nWait for them or choose another folder.");
}

// Another process has taken stock: what is older than the state that it wrote was kept.
void OutputFolder::FindKept() {
  std::error_code error;
  const auto begun =
      std::filesystem::last_write_time(JoinPath(shard_folder_, kPackStateName), error);
  if (error) return;
  for (const PlannedShard& shard : plan_.AllShards()) {
    const auto made =
        std::filesystem::last_write_time(JoinPath(shard_folder_, plan_.FileNameOf(shard)), error);
    if (!error && made < begun) kept_.push_back(shard);
  }
}

Status OutputFolder::ChooseFolder(const PackState& now) {
  const std::string incoming = IncomingFolder(path_);
  ASSIGN_OR_RETURN(std::optional<PackState> then, ReadPackState(incoming));
  const bool has_incoming = then.has_value();
  if (has_incoming && options_.overwrite && SameSet(*then, now)) {
    shard_folder_ = incoming;
    before_ = std::move(then);
    return UndoCutReplacement(path_);
  }
  ASSIGN_OR_RETURN(then, ReadPackState(path_));
  if (then.has_value() && SameSet(*then, now)) {
    before_ = std::move(then);
    return OkStatus();
  }
  if (HasManifest(path_)) {
    return LeaveOldSet(path_ +
                       " holds a data set already; replace it with --overwrite or choose "
                       "another folder");
  }
  if (then.has_value()) {
    return LeaveOldSet(path_ +
                       " holds an unfinished data set that this command cannot go on with:" +
                       DescribeDifference(*then, now) +
                       "\nRepeat the command that began it, pack anew with --overwrite, or choose "
                       "another folder.");
  }
  if (has_incoming && !options_.overwrite) {
    return InvalidArgumentError("a pack with --overwrite was stopped in " + path_ +
                                "; the same command with --overwrite goes on with it");
  }
  if (use_ == FolderUse::kFinish) {
    return NotFoundError(path_ +
                         " holds no unfinished data set; make its shards first, with the "
                         "same options and --shards in the place of --finish");
  }
  ASSIGN_OR_RETURN(const std::string foreign, ForeignShard(path_, plan_.dataset_id));
  if (foreign.empty()) return OkStatus();
  return LeaveOldSet(
      path_ + " holds shards of another data set, such as " + foreign +
      ", without a manifest; replace them with --overwrite or choose another folder");
}

// What is there stays until the new set is complete, or for ever.
Status OutputFolder::LeaveOldSet(const std::string& refusal) {
  if (!options_.overwrite || use_ == FolderUse::kFinish) return InvalidArgumentError(refusal);
  if (FileExists(IncomingFolder(path_))) {
    notes_.push_back("an unfinished data set of other inputs or options is thrown away");
  }
  shard_folder_ = IncomingFolder(path_);
  return StartIncoming(path_);
}

bool OutputFolder::CanBeKept(const PlannedShard& shard) const {
  const Result<FinishedShard> finished = ReadFinishedShard(plan_, shard, shard_folder_);
  if (!finished.ok()) return false;
  // A power cut or a bad disk may have damaged it since.
  const std::string path = JoinPath(shard_folder_, plan_.FileNameOf(shard));
  const Result<VerifyReport> report = Verify(path, VerifyOptions());
  if (!report.ok() || !report->sound()) return false;
  // A pack that stops at the first failure must meet it again, the inputs that are known to be
  // none excepted.
  return options_.on_error.skip ||
         std::all_of(finished->summary.skipped().begin(), finished->summary.skipped().end(),
                     [](const proto::SkippedInput& skipped) { return skipped.by_rule(); });
}

Status OutputFolder::TakeStock(const PackState& now) {
  const std::vector<PlannedShard> shards = plan_.AllShards();
  std::vector<bool> changed(shards.size(), !before_.has_value());
  if (before_.has_value()) {
    std::string key;
    uint64_t inputs = 0;
    changed = ChangedShards(plan_, *before_, now, &key, &inputs);
    if (inputs > 0) {
      notes_.push_back(FormatCount(inputs) + " inputs were changed since the pack was stopped, " +
                       "such as " + key + "; their shards are not kept");
    }
  }
  ASSIGN_OR_RETURN(std::vector<std::string> stale,
                   ShardFileNames(shard_folder_, ShardFileKind::kShards));
  for (size_t i = 0; i < shards.size(); ++i) {
    const auto name = std::lower_bound(stale.begin(), stale.end(), plan_.FileNameOf(shards[i]));
    if (name == stale.end() || *name != plan_.FileNameOf(shards[i])) continue;
    if (changed[i] || !CanBeKept(shards[i])) continue;
    kept_.push_back(shards[i]);
    stale.erase(name);
  }
  before_.reset();
  if (use_ == FolderUse::kFinish) {
    unusable_ = std::move(stale);
    return OkStatus();
  }
  return CleanUp(stale, now);
}

// Only when nothing stale is left may the state say what the shards are made of.
Status OutputFolder::CleanUp(const std::vector<std::string>& stale, const PackState& now) {
  RETURN_IF_ERROR(RemoveFiles(shard_folder_, stale));
  for (const std::string& folder : {path_, shard_folder_}) {
    ASSIGN_OR_RETURN(const std::vector<std::string> leftovers,
                     ShardFileNames(folder, ShardFileKind::kLeftovers));
    RETURN_IF_ERROR(RemoveFiles(folder, leftovers));
  }
  RETURN_IF_ERROR(SyncFolder(shard_folder_));
  return WritePackState(shard_folder_, now);
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
  if (shard_folder_ != path_) {
    RETURN_IF_ERROR(ReplaceByIncoming(path_));
    shard_folder_ = path_;
  }
  RETURN_IF_ERROR(WriteManifest(path_, std::move(manifest)));
  RemoveIncoming(path_);
  return RemoveFile(JoinPath(path_, kPackStateName));
}

void OutputFolder::Discard() {
  if (use_ != FolderUse::kWhole) return;
  if (shard_folder_ != path_) {
    RemoveIncoming(path_);
    return;
  }
  Result<std::vector<std::string>> shards = ShardFileNames(path_, ShardFileKind::kShards);
  if (shards.ok()) (void)RemoveFiles(path_, *shards).ok();
  (void)RemoveFile(JoinPath(path_, kPackStateName)).ok();
  lock_->Release();
  if (made_) ::rmdir(path_.c_str());
}

}  // namespace shardmill
