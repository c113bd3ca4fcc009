// What a shard says of itself as a whole: superblock, schema, footer and postscript, read from
// the mapping, checked alone and against each other. Not for use outside reader/.
#pragma once

#include <memory>

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/schema.h"
#include "reader/shard_format.h"

namespace shardmill {

namespace proto {
class ShardSchema;
class ShardSummary;
}  // namespace proto

struct ShardParts {
  ShardParts();
  ~ShardParts();
  ShardParts(ShardParts&&) noexcept;
  ShardParts& operator=(ShardParts&&) noexcept;

  Superblock superblock;
  std::unique_ptr<proto::ShardSchema> schema_message;
  RecordSchema schema;
  Postscript postscript;
  Footer footer;
  std::unique_ptr<proto::ShardSummary> summary;
};

// The steps, for programs that go on after an error.
Result<Superblock> ReadSuperblock(const InputFile& file);
// Fills schema_message and schema from parts->superblock.
Status ReadSchema(const InputFile& file, ShardParts* parts);
Result<Postscript> ReadPostscript(const InputFile& file);
// Fills footer and summary from parts->postscript.
Status ReadFooter(const InputFile& file, ShardParts* parts);
// DataLoss unless superblock, schema, footer and postscript agree with each other.
Status CheckAgreement(const ShardParts& parts);

// All steps in turn: O(blocks). The caller adds the path to an error.
Result<ShardParts> ReadShardParts(const InputFile& file);

}  // namespace shardmill
