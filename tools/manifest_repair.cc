#include "tools/manifest_repair.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/file.h"
#include "reader/base/file_remnants.h"
#include "reader/manifest.h"
#include "reader/unfinished_pack.h"

namespace shardmill {
namespace {

constexpr size_t kDifferencesShown = 5;

using ShardsByName = std::map<std::string, const proto::ShardInfo*>;

ShardsByName ShardsOf(const proto::Manifest& manifest) {
  ShardsByName shards;
  for (const proto::Split& split : manifest.splits()) {
    for (const proto::ShardInfo& shard : split.shards()) shards[shard.file()] = &shard;
  }
  return shards;
}

std::vector<std::string> Differences(const ShardsByName& named, const ShardsByName& found) {
  std::vector<std::string> differences;
  for (const auto& [file, shard] : named) {
    const auto there = found.find(file);
    if (there == found.end()) {
      differences.push_back(file + " is missing");
    } else if (there->second->digest() != shard->digest()) {
      differences.push_back(file + " has digest " + there->second->digest() +
                            ", the manifest says " + shard->digest());
    }
  }
  for (const auto& [file, shard] : found) {
    if (named.count(file) == 0) differences.push_back("the manifest does not name " + file);
  }
  return differences;
}

Status RefuseDifferent(const std::string& path, const std::vector<std::string>& differences) {
  std::string lines;
  for (size_t i = 0; i < differences.size() && i < kDifferencesShown; ++i) {
    lines += "\n  " + differences[i];
  }
  if (differences.size() > kDifferencesShown) {
    lines += "\n  … and " + std::to_string(differences.size() - kDifferencesShown) + " more";
  }
  return DataLossError(path +
                       " is sound, and what lies beside it differs from what it says:" + lines +
                       "\nIt alone knows what belongs to the set, so it is not written over. Bring "
                       "the shards back, or move it away to make another of what is there.");
}

// A file of the set that the manifest names but that is gone.
std::vector<std::string> MissingShards(const std::string& folder, const proto::Manifest& manifest) {
  std::vector<std::string> missing;
  std::error_code error;
  for (const auto& [file, shard] : ShardsOf(manifest)) {
    if (!std::filesystem::exists(JoinPath(folder, file), error)) {
      missing.push_back(file + " is missing");
    }
  }
  return missing;
}

}  // namespace

Result<ManifestRepair> RepairManifest(const std::string& folder) {
  const std::string stopped = FindUnfinishedPack(folder).description;
  if (!stopped.empty()) return InvalidArgumentError(stopped);
  const std::string path = JoinPath(folder, std::string(kManifestFileName));
  const Result<proto::Manifest> old = ReadManifest(folder);
  // What this build cannot judge, such as a newer format, it does not replace.
  const StatusCode code = old.status().code();
  if (!old.ok() && code != StatusCode::kNotFound && code != StatusCode::kDataLoss) {
    return old.status();
  }
  if (old.ok()) {
    const std::vector<std::string> missing = MissingShards(folder, *old);
    if (!missing.empty()) return RefuseDifferent(path, missing);
  }
  ASSIGN_OR_RETURN(const proto::Manifest manifest, RebuildManifest(folder));
  ManifestRepair repair;
  repair.shards = static_cast<int>(ShardsOf(manifest).size());
  if (!old.ok()) {
    RETURN_IF_ERROR(WriteManifest(folder, manifest));
    return repair;
  }
  repair.agreed = old->digest() == manifest.digest();
  if (repair.agreed) {
    RemoveRemnants(path);  // writing it would do so as well
    return repair;
  }
  std::vector<std::string> differences = Differences(ShardsOf(*old), ShardsOf(manifest));
  if (differences.empty()) differences.push_back("the shards have another schema or other totals");
  return RefuseDifferent(path, differences);
}

}  // namespace shardmill
