// Writes one shard file: see proto/FORMAT.md for the bytes.
//
// The file appears under its final name only when Close() has returned OK: it is written under a
// temporary name in the same folder, flushed, renamed, and the folder is flushed. A writer that
// is destroyed without Close() removes its temporary file. The first error sticks: later calls
// return it. Not for concurrent use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/status.h"
#include "reader/block_builder.h"  // EncodedRecord
#include "reader/codec.h"
#include "reader/names.h"  // ShardFileName
#include "reader/schema.h"

namespace shardmill {

namespace proto {
class Recipe;
class RecordMeta;
class ShardSummary;
}  // namespace proto

struct ShardPlan {
  std::string split;
  uint32_t shard_number = 0;
  uint32_t shard_count = 1;
  uint64_t first_input = 0;  // the plan range: inputs [first_input, end_input) of the split
  uint64_t end_input = 0;
  uint32_t records_per_block = 1;
  Digest dataset_id = {};
};

struct ShardResult {
  std::string file;  // name without folder
  uint64_t records = 0;
  uint64_t bytes = 0;
  Digest digest = {};
};

class ShardWriter {
 public:
  // Creates `folder`/NAME.tmp-PID. InvalidArgument when the schema or the plan breaks FORMAT.md.
  static Result<std::unique_ptr<ShardWriter>> Create(const std::string& folder,
                                                     const ShardPlan& plan,
                                                     const RecordSchema& schema,
                                                     const proto::Recipe& recipe);
  ~ShardWriter();
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;

  // Keeps at most one block of records in memory; a full block is written at once.
  Status Append(EncodedRecord record);

  // Writes the last block, the footer and the postscript, and gives the file its final name.
  // `before_named` is called when all is written but its name; an error keeps that away.
  using BeforeNamed = std::function<Status(const ShardResult&)>;
  Result<ShardResult> Close(const proto::ShardSummary& summary,
                            const BeforeNamed& before_named = nullptr);

 private:
  struct Impl;
  explicit ShardWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shardmill
