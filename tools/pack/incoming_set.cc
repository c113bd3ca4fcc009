#include "tools/pack/incoming_set.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include "reader/base/file.h"
#include "reader/manifest.h"
#include "tools/pack/pack_state.h"
#include "tools/pack/shard_files.h"

namespace shardmill {
namespace {

constexpr char kIncomingName[] = ".shardmill-incoming";
// Says that the old shards are gone, so that all that lie in the folder are new ones.
constexpr char kMovingName[] = ".moving";

Status WriteMovingMark(const std::string& incoming) {
  ASSIGN_OR_RETURN(AtomicFile mark, AtomicFile::Create(JoinPath(incoming, kMovingName)));
  return mark.Commit();
}

Status MoveShards(const std::string& from, const std::string& to,
                  const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    RETURN_IF_ERROR(MoveFile(JoinPath(from, name), JoinPath(to, name)));
  }
  return SyncFolder(to);
}

Status RemoveOldSet(const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> shards,
                   ShardFileNames(folder, ShardFileKind::kShards));
  // Without its manifest the folder is no data set, so no reader can take a mixture for one.
  RETURN_IF_ERROR(RemoveFile(JoinPath(folder, std::string(kManifestFileName))));
  RETURN_IF_ERROR(SyncFolder(folder));
  RETURN_IF_ERROR(RemoveFile(JoinPath(folder, kPackStateName)));
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
  RETURN_IF_ERROR(RemoveOldSet(folder));
  RETURN_IF_ERROR(WriteMovingMark(incoming));
  ASSIGN_OR_RETURN(const std::vector<std::string> shards,
                   ShardFileNames(incoming, ShardFileKind::kShards));
  RETURN_IF_ERROR(MoveShards(incoming, folder, shards));
  RETURN_IF_ERROR(MoveFile(JoinPath(incoming, kPackStateName), JoinPath(folder, kPackStateName)));
  RETURN_IF_ERROR(SyncFolder(folder));
  RemoveIncoming(folder);
  return OkStatus();
}

Status UndoCutReplacement(const std::string& folder, const std::vector<std::string>& planned) {
  const std::string incoming = IncomingFolder(folder);
  const std::string mark = JoinPath(incoming, kMovingName);
  if (!FileExists(mark)) return OkStatus();
  std::vector<std::string> moved;
  std::copy_if(planned.begin(), planned.end(), std::back_inserter(moved),
               [&](const std::string& name) {
                 return FileExists(JoinPath(folder, name)) && !FileExists(JoinPath(incoming, name));
               });
  RETURN_IF_ERROR(MoveShards(folder, incoming, moved));
  return RemoveFile(mark);
}

void RemoveIncoming(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove_all(IncomingFolder(folder), error);
}

}  // namespace shardmill
