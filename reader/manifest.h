// manifest.json: the commit record of a data set, written last. See proto/FORMAT.md.
//
// Functions on proto::Manifest; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reader/base/checksum.h"
#include "reader/base/status.h"
#include "reader/schema.h"

namespace shardmill {

namespace proto {
class Manifest;
class ShardSchema;
class Split;
}  // namespace proto

inline constexpr std::string_view kManifestFileName = "manifest.json";

// Reads and checks `folder`/manifest.json: its own digest, schema rules, file names.
// NotFound when there is none, DataLoss when it is damaged or was edited.
Result<proto::Manifest> ReadManifest(const std::string& folder);

// The same for the text of a manifest.json. The caller adds the path to an error.
Result<proto::Manifest> ParseManifest(const std::string& json);

// Fills in the digest and writes the file atomically (temporary name, flush, rename).
// InvalidArgument when the manifest breaks a rule that ReadManifest would refuse.
Status WriteManifest(const std::string& folder, proto::Manifest manifest);

// Merges what the shards of a folder say of themselves into a manifest, which may be written as
// it is; DataLoss when shards are missing, damaged or of different data sets. It depends on the
// shards alone: packing ends with WriteManifest(folder, RebuildManifest(folder)).
Result<proto::Manifest> RebuildManifest(const std::string& folder);

// DataLoss when the manifest breaks a rule of FORMAT.md, its digest apart.
Result<RecordSchema> CheckManifest(const proto::Manifest& manifest);

// 32 hex digits over the manifest's canonical binary form without the digest itself.
std::string ManifestDigest(const proto::Manifest& manifest);

// The schema that every shard of this split must carry.
proto::ShardSchema ShardSchemaOf(const proto::Manifest& manifest, const std::string& split);

// What a shard says of itself.
struct ShardFacts {
  Digest dataset_id = {};
  uint32_t shard_number = 0;
  uint32_t shard_count = 0;
  uint64_t records = 0;
  uint64_t file_bytes = 0;
  Digest digest = {};
  const proto::ShardSchema* schema = nullptr;  // null: not compared
};
// DataLoss unless shard `number` of the split is as the manifest says. The caller adds the path.
Status CheckAgainstManifest(const ShardFacts& facts, const proto::Manifest& manifest,
                            const proto::Split& split, int number);

// NotFound or DataLoss unless it is a regular file: nothing of a data set is outside its folder.
Status CheckIsRegularFile(const std::string& path);
// The same of a shard that a manifest names. That it is missing is damage of the set: DataLoss too.
Status CheckNamedShard(const std::string& path);

}  // namespace shardmill
