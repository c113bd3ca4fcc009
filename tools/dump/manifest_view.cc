#include "tools/dump/manifest_view.h"

#include "proto/manifest.pb.h"

namespace shardmill {

Result<RecordSchema> SchemaOfManifest(const proto::Manifest& manifest) {
  proto::ShardSchema message;
  *message.mutable_fields() = manifest.fields();
  *message.mutable_classes() = manifest.classes();
  if (manifest.has_ignore()) message.set_ignore(manifest.ignore());
  return RecordSchemaFromProto(message);
}

uint64_t BytesOfSplit(const proto::Split& split) {
  uint64_t bytes = 0;
  for (const proto::ShardInfo& shard : split.shards()) bytes += shard.bytes();
  return bytes;
}

uint64_t Labelled(const proto::Statistics& statistics) {
  uint64_t pixels = 0;
  for (const uint64_t count : statistics.class_pixels()) pixels += count;
  return pixels;
}

}  // namespace shardmill
