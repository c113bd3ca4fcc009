#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/file.h"
#include "reader/manifest.h"
#include "reader/names.h"
#include "reader/serialize.h"
#include "reader/shard_format.h"
#include "reader/shard_reader.h"
#include "reader/statistics.h"

namespace shardmill {
namespace {

// The order of splits in a manifest: the usual three as one thinks of them, then by name.
struct SplitOrder {
  static int Rank(const std::string& name) {
    if (name == "train") return 0;
    if (name == "val") return 1;
    return name == "test" ? 2 : 3;
  }
  bool operator()(const std::string& a, const std::string& b) const {
    return Rank(a) != Rank(b) ? Rank(a) < Rank(b) : a < b;
  }
};
// Split name to the shards of it that are there.
using ShardsOfSplits = std::map<std::string, std::vector<ShardName>, SplitOrder>;

Result<ShardsOfSplits> ListShards(const std::string& folder) {
  ShardsOfSplits splits;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = ParseShardFileName(entry->path().filename().string());
    if (name) splits[name->split].push_back(*name);
  }
  if (error) return IoError("cannot list " + folder + ": " + error.message());
  if (splits.empty()) return NotFoundError(folder + " holds no shards");
  for (auto& [split, shards] : splits) {
    std::sort(shards.begin(), shards.end(), [](const ShardName& a, const ShardName& b) {
      return a.count != b.count ? a.count < b.count : a.number < b.number;
    });
  }
  return splits;
}

Status CheckComplete(const std::string& folder, const std::vector<ShardName>& shards) {
  const ShardName& first = shards.front();
  if (shards.back().count != first.count) {
    return DataLossError(folder + ": split " + first.split + " has shards of " +
                         std::to_string(first.count) + " and of " +
                         std::to_string(shards.back().count) +
                         "; remove those that do not belong to the data set");
  }
  for (uint32_t k = 0; k < first.count; ++k) {
    if (k >= shards.size() || shards[k].number != k) {
      return DataLossError(folder + ": " + ShardFileName(first.split, k, first.count) +
                           " is missing");
    }
  }
  return OkStatus();
}

// Takes the schema from the first shard of all; later ones must equal it.
Status TakeSchema(const ShardReader& shard, proto::Manifest* manifest) {
  const proto::ShardSchema& schema = shard.schema_message();
  if (manifest->dataset_id().empty()) {
    manifest->set_dataset_id(DigestToHex(shard.dataset_id()));
    *manifest->mutable_fields() = schema.fields();
    *manifest->mutable_classes() = schema.classes();
    if (schema.has_ignore()) manifest->set_ignore(schema.ignore());
    if (schema.has_recipe()) *manifest->mutable_recipe() = schema.recipe();
  }
  if (DigestToHex(shard.dataset_id()) != manifest->dataset_id() ||
      SerializeDeterministic(schema) !=
          SerializeDeterministic(ShardSchemaOf(*manifest, schema.split()))) {
    return DataLossError(shard.path() + " belongs to another data set than the shards before it");
  }
  return OkStatus();
}

Status AddShard(const std::string& folder, const ShardName& name, proto::Manifest* manifest,
                proto::Split* split) {
  const std::string file = ShardFileName(name.split, name.number, name.count);
  const std::string path = JoinPath(folder, file);
  RETURN_IF_ERROR(CheckIsRegularFile(path));
  ASSIGN_OR_RETURN(const std::unique_ptr<ShardReader> shard,
                   ShardReader::Open(path, ChecksumPolicy::kOff));
  if (shard->shard_number() != name.number || shard->shard_count() != name.count ||
      shard->schema_message().split() != name.split) {
    return DataLossError(path + " says that it is " +
                         ShardFileName(shard->schema_message().split(), shard->shard_number(),
                                       shard->shard_count()) +
                         ": was it renamed?");
  }
  RETURN_IF_ERROR(TakeSchema(*shard, manifest));
  proto::ShardInfo* info = split->add_shards();
  info->set_file(file);
  info->set_records(shard->records());
  info->set_bytes(shard->file_bytes());
  info->set_digest(DigestToHex(shard->digest()));
  split->set_records(split->records() + shard->records());
  AddStatistics(shard->summary().statistics(), split->mutable_statistics());
  split->mutable_skipped()->MergeFrom(shard->summary().skipped());
  return OkStatus();
}

}  // namespace

Result<proto::Manifest> RebuildManifest(const std::string& folder) {
  ASSIGN_OR_RETURN(const ShardsOfSplits splits, ListShards(folder));
  proto::Manifest manifest;
  manifest.set_format_version(kFormatVersion);
  for (const auto& [name, shards] : splits) {
    RETURN_IF_ERROR(CheckComplete(folder, shards));
    proto::Split* split = manifest.add_splits();
    split->set_name(name);
    for (const ShardName& shard : shards) {
      RETURN_IF_ERROR(AddShard(folder, shard, &manifest, split));
    }
  }
  manifest.set_digest(ManifestDigest(manifest));
  return manifest;
}

}  // namespace shardmill
