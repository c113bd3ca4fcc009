#include "tools/pack/output/foreign_shards.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "proto/manifest.pb.h"
#include "reader/base/file.h"
#include "reader/base/input_file.h"
#include "reader/console/units.h"
#include "reader/manifest.h"
#include "reader/shard_format.h"
#include "reader/shard_parts.h"
#include "tools/pack/output/shard_files.h"

namespace shardmill {
namespace {

// From the beginning of the file, however it ends.
Result<Superblock> SuperblockOf(const InputFile& file) {
  std::string bytes(kSuperblockBytes, '\0');
  RETURN_IF_ERROR(file.Read(0, bytes.size(), bytes.data()));
  return DecodeSuperblock(bytes);
}

bool IsOwn(const Digest& dataset_id, const std::string& path, FolderPast past) {
  if (!CheckIsRegularFile(path).ok()) return false;
  const auto file = InputFile::Open(path, FileAccess::kPread);
  if (!file.ok()) return false;
  const Result<Superblock> superblock = SuperblockOf(**file);
  if (superblock.ok()) return superblock->dataset_id == dataset_id;
  const Result<Postscript> postscript = ReadPostscript(**file);
  if (postscript.ok()) return postscript->dataset_id == dataset_id;
  // Not one of a newer version, nor one that the disk does not give out.
  return past == FolderPast::kStoppedPack && superblock.status().code() == StatusCode::kDataLoss &&
         postscript.status().code() == StatusCode::kDataLoss;
}

}  // namespace

std::vector<std::string> ForeignShards(const PackPlan& plan, const std::string& folder,
                                       const std::vector<std::string>& names, FolderPast past) {
  const std::vector<std::string> planned = PlannedNames(plan);
  std::vector<std::string> foreign;
  for (const std::string& name : names) {
    const bool is_planned = std::binary_search(planned.begin(), planned.end(), name);
    if (is_planned && IsOwn(plan.dataset_id, JoinPath(folder, name), past)) continue;
    foreign.push_back(name);
  }
  return foreign;
}

Status CheckRemovable(const std::string& folder) {
  ASSIGN_OR_RETURN(std::vector<std::string> names, ShardFileNames(folder, ShardFileKind::kShards));
  names.emplace_back(kManifestFileName);
  for (const std::string& name : names) {
    const std::string path = JoinPath(folder, name);
    std::error_code error;
    if (!std::filesystem::is_directory(std::filesystem::symlink_status(path, error))) continue;
    return InvalidArgumentError(path +
                                " is a folder, which --overwrite does not remove; move it "
                                "away");
  }
  return OkStatus();
}

Result<std::vector<std::string>> UnnamedShards(const std::string& folder) {
  ASSIGN_OR_RETURN(std::vector<std::string> names, ShardFileNames(folder, ShardFileKind::kShards));
  const Result<proto::Manifest> manifest = ReadManifest(folder);
  if (!manifest.ok()) return names;
  std::set<std::string> named;
  for (const proto::Split& split : manifest->splits()) {
    for (const proto::ShardInfo& shard : split.shards()) named.insert(shard.file());
  }
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&](const std::string& name) { return named.count(name) > 0; }),
              names.end());
  return names;
}

std::vector<std::string> PlannedNames(const PackPlan& plan) {
  std::vector<std::string> names;
  for (const PlannedShard& shard : plan.AllShards()) names.push_back(plan.FileNameOf(shard));
  std::sort(names.begin(), names.end());
  return names;
}

std::string DescribeShards(const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  return FormatCount(names.size()) + " shards, such as " + names.front();
}

}  // namespace shardmill
