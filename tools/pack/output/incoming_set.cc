#include "tools/pack/output/incoming_set.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/file.h"
#include "reader/manifest.h"
#include "reader/names.h"
#include "tools/pack/output/shard_files.h"
#include "tools/pack/report/report_file.h"

namespace shardmill {
namespace {

// Says that the old shards are gone, so that all that lie in the folder are new ones.
constexpr char kMovingName[] = ".moving";

Status WriteMovingMark(const std::string& incoming) {
  ASSIGN_OR_RETURN(AtomicFile mark, AtomicFile::Create(JoinPath(incoming, kMovingName)));
  return mark.Commit();
}

std::string ManifestIn(const std::string& folder) {
  return JoinPath(folder, std::string(kManifestFileName));
}

std::vector<proto::ShardInfo> ShardsOf(const proto::Manifest& manifest) {
  std::vector<proto::ShardInfo> shards;
  for (const proto::Split& split : manifest.splits()) {
    shards.insert(shards.end(), split.shards().begin(), split.shards().end());
  }
  return shards;
}

Status CheckIsWhole(const std::string& path, uint64_t bytes) {
  RETURN_IF_ERROR(CheckNamedShard(path));
  std::error_code error;
  const uint64_t found = std::filesystem::file_size(path, error);
  if (error) return ErrnoError("cannot stat " + path, error.value());
  if (found == bytes) return OkStatus();
  return DataLossError(path + " has " + std::to_string(found) + " bytes, the manifest says " +
                       std::to_string(bytes));
}

// With `moving`, shards may lie in their last place already.
Status CheckNewSet(const std::string& folder, const proto::Manifest& manifest, bool moving) {
  const std::string incoming = IncomingFolder(folder);
  for (const proto::ShardInfo& shard : ShardsOf(manifest)) {
    const bool moved = moving && !FileExists(JoinPath(incoming, shard.file()));
    const Status status =
        CheckIsWhole(JoinPath(moved ? folder : incoming, shard.file()), shard.bytes());
    if (!status.ok()) {
      return Status(status.code(), status.message() + ": the data set in " + incoming +
                                       " cannot take its place; move that folder away");
    }
  }
  return OkStatus();
}

Status MoveIfThere(const std::string& from, const std::string& to, const std::string& name) {
  if (!FileExists(JoinPath(from, name))) return OkStatus();
  return MoveFile(JoinPath(from, name), JoinPath(to, name));
}

Status RemoveOldSet(const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> shards,
                   ShardFileNames(folder, ShardFileKind::kShards));
  // Without its manifest the folder is no data set, so no reader can take a mixture for one.
  RETURN_IF_ERROR(RemoveFile(ManifestIn(folder)));
  RETURN_IF_ERROR(SyncFolder(folder));
  RETURN_IF_ERROR(RemoveFile(JoinPath(folder, kPackStateName)));
  RETURN_IF_ERROR(RemoveFile(JoinPath(folder, kReportFileName)));
  RETURN_IF_ERROR(RemoveFiles(folder, shards));
  return SyncFolder(folder);
}

}  // namespace

std::string IncomingFolder(const std::string& folder) { return JoinPath(folder, kIncomingName); }

Status StartIncoming(const std::string& folder) {
  const std::string incoming = IncomingFolder(folder);
  std::error_code error;
  std::filesystem::remove_all(incoming, error);
  if (!error) std::filesystem::create_directory(incoming, error);
  if (error) return ErrnoError("cannot make folder " + incoming, error.value());
  return OkStatus();
}

Status ReplaceByIncoming(const std::string& folder) {
  const std::string incoming = IncomingFolder(folder);
  ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifest(incoming));
  const bool moving = FileExists(JoinPath(incoming, kMovingName));
  RETURN_IF_ERROR(CheckNewSet(folder, manifest, moving));
  if (!moving) {
    RETURN_IF_ERROR(RemoveOldSet(folder));
    RETURN_IF_ERROR(WriteMovingMark(incoming));
  }
  for (const proto::ShardInfo& shard : ShardsOf(manifest)) {
    RETURN_IF_ERROR(MoveIfThere(incoming, folder, shard.file()));
  }
  RETURN_IF_ERROR(MoveIfThere(incoming, folder, kPackStateName));
  RETURN_IF_ERROR(SyncFolder(folder));
  RETURN_IF_ERROR(MoveFile(ManifestIn(incoming), ManifestIn(folder)));
  RETURN_IF_ERROR(SyncFolder(folder));
  RemoveIncoming(folder);
  return OkStatus();
}

Result<bool> FinishCutReplacement(const std::string& folder) {
  const std::string incoming = IncomingFolder(folder);
  if (FileExists(ManifestIn(incoming))) {
    RETURN_IF_ERROR(ReplaceByIncoming(folder));
    return true;
  }
  if (!FileExists(JoinPath(incoming, kMovingName))) return false;
  RemoveIncoming(folder);  // all that was left to be done
  return true;
}

void RemoveIncoming(const std::string& folder) {
  const std::string incoming = IncomingFolder(folder);
  if (FileExists(ManifestIn(incoming))) return;
  std::error_code error;
  std::filesystem::remove_all(incoming, error);
}

}  // namespace shardmill
