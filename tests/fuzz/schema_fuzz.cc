// The schema message of a shard: what is accepted must survive the way through plain structs.
#include <cstddef>
#include <cstdint>

#include "proto/schema.pb.h"
#include "reader/schema.h"
#include "reader/serialize.h"

using namespace shardmill;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  proto::ShardSchema message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  const Result<RecordSchema> schema = RecordSchemaFromProto(message);
  if (!schema.ok()) return 0;
  for (const FieldSpec& field : schema->fields) {
    if (field.IsFixedShape()) SHARDMILL_CHECK(field.TensorBytes() <= kMaxRecordBytes);
    field.TensorBytes(std::vector<uint32_t>(field.VariableDimCount(), 0xffffffffu)).ok();
  }
  proto::ShardSchema again;
  RecordSchemaToProto(*schema, &again);
  const Result<RecordSchema> schema_again = RecordSchemaFromProto(again);
  SHARDMILL_CHECK(schema_again.ok());
  proto::ShardSchema twice;
  RecordSchemaToProto(*schema_again, &twice);
  SHARDMILL_CHECK(SerializeDeterministic(again) == SerializeDeterministic(twice));
  return 0;
}
