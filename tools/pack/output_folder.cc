#include "tools/pack/output_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/file.h"
#include "reader/manifest.h"
#include "reader/names.h"
#include "reader/shard_reader.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

constexpr char kIncomingName[] = ".shardmill-incoming";

// Names in `folder` of shards or, with `temporary`, of the files that a killed writer of shards or
// of the manifest left behind.
Result<std::vector<std::string>> ShardNames(const std::string& folder, bool temporary) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    size_t suffix = name.find(".tmp-");
    if (temporary != (suffix != std::string::npos)) continue;
    const std::string final_name = name.substr(0, suffix);
    const bool is_manifest = temporary && final_name == kManifestFileName;
    if (is_manifest || ParseShardFileName(final_name)) names.push_back(std::move(name));
  }
  if (error) return ErrnoError("cannot read folder " + folder, error.value());
  return names;
}

Status RemoveFile(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return OkStatus();
  return ErrnoError("cannot remove " + path, errno);
}

Status RemoveAll(const std::string& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) RETURN_IF_ERROR(RemoveFile(JoinPath(folder, name)));
  return OkStatus();
}

bool Exists(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0;
}

}  // namespace

Result<std::unique_ptr<OutputFolder>> OutputFolder::Open(const std::string& path, bool overwrite,
                                                         const Digest& dataset_id) {
  std::error_code error;
  const bool made = fs::create_directories(path, error);
  if (error) return ErrnoError("cannot make folder " + path, error.value());
  std::unique_ptr<OutputFolder> folder(new OutputFolder(path, made));
  RETURN_IF_ERROR(folder->Lock());
  RETURN_IF_ERROR(folder->CheckOldSet(overwrite, dataset_id));
  return folder;
}

Status OutputFolder::Lock() {
  ASSIGN_OR_RETURN(lock_, FolderLock::TryAcquire(path_));
  if (lock_) return OkStatus();
  return InvalidArgumentError("another pack is writing to " + path_ +
                              "; wait for it or choose another folder");
}

Status OutputFolder::CheckOldSet(bool overwrite, const Digest& dataset_id) {
  shard_folder_ = path_;
  const bool complete = Exists(JoinPath(path_, std::string(kManifestFileName)));
  if (complete && !overwrite) {
    return InvalidArgumentError(path_ +
                                " holds a data set already; replace it with --overwrite or choose "
                                "another folder");
  }
  ASSIGN_OR_RETURN(std::vector<std::string> leftovers, ShardNames(path_, true));
  RETURN_IF_ERROR(RemoveAll(path_, leftovers));
  ASSIGN_OR_RETURN(std::vector<std::string> shards, ShardNames(path_, false));
  bool foreign = complete;
  for (const std::string& name : shards) {
    auto shard = ShardReader::Open(JoinPath(path_, name), ChecksumPolicy::kOff);
    foreign = foreign || !shard.ok() || (*shard)->dataset_id() != dataset_id;
  }
  if (!foreign) return RemoveAll(path_, shards);
  if (!overwrite) {
    return InvalidArgumentError(path_ + " holds shards of another data set, such as " +
                                shards.front() +
                                ", without a manifest; replace them with --overwrite or choose "
                                "another folder");
  }
  return StartIncoming();
}

Status OutputFolder::StartIncoming() {
  shard_folder_ = JoinPath(path_, kIncomingName);
  std::error_code error;
  fs::remove_all(shard_folder_, error);
  if (!error) fs::create_directory(shard_folder_, error);
  if (error) return ErrnoError("cannot make folder " + shard_folder_, error.value());
  return OkStatus();
}

Status OutputFolder::Publish() {
  // Reading back what the new shards say of themselves, before the old set is touched.
  ASSIGN_OR_RETURN(proto::Manifest manifest, RebuildManifest(shard_folder_));
  if (shard_folder_ != path_) RETURN_IF_ERROR(ReplaceOldShards());
  return WriteManifest(path_, std::move(manifest));
}

Status OutputFolder::ReplaceOldShards() {
  ASSIGN_OR_RETURN(std::vector<std::string> old_shards, ShardNames(path_, false));
  ASSIGN_OR_RETURN(std::vector<std::string> new_shards, ShardNames(shard_folder_, false));
  // Without its manifest the folder is no data set, so no reader can take a mixture for one.
  RETURN_IF_ERROR(RemoveFile(JoinPath(path_, std::string(kManifestFileName))));
  RETURN_IF_ERROR(SyncFolder(path_));
  RETURN_IF_ERROR(RemoveAll(path_, old_shards));
  for (const std::string& name : new_shards) {
    const std::string to = JoinPath(path_, name);
    if (::rename(JoinPath(shard_folder_, name).c_str(), to.c_str()) != 0) {
      return ErrnoError("cannot move a new shard to " + to, errno);
    }
  }
  std::error_code error;
  fs::remove_all(shard_folder_, error);
  shard_folder_ = path_;
  return SyncFolder(path_);
}

void OutputFolder::Discard() {
  std::error_code error;
  if (shard_folder_ != path_) {
    fs::remove_all(shard_folder_, error);
    return;
  }
  Result<std::vector<std::string>> shards = ShardNames(path_, false);
  if (shards.ok()) (void)RemoveAll(path_, *shards).ok();
  if (lock_) lock_->Release();
  if (made_) ::rmdir(path_.c_str());
}

}  // namespace shardmill
