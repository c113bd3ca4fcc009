// `shardmill dump stats`: counts classes and channels again, from the stored records, and
// compares with what the manifest says.
//
// Free functions; safe for concurrent use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/dump/shard_set.h"
#include "tools/dump/tensor_picture.h"

namespace shardmill {

namespace proto {
class RecordMeta;
class Statistics;
}  // namespace proto

struct FieldBytes {
  uint64_t stored = 0;   // in the file
  uint64_t decoded = 0;  // as tensors
};

struct SplitRecount {
  SplitRecount();
  ~SplitRecount();
  SplitRecount(SplitRecount&&) noexcept;
  SplitRecount& operator=(SplitRecount&&) noexcept;

  std::unique_ptr<proto::Statistics> statistics;
  std::vector<FieldBytes> fields;  // in schema order
};

struct RecountOptions {
  int threads = 1;
  std::function<bool()> cancelled;                               // see PipelineOptions
  std::function<void(uint64_t records, uint64_t bytes)> report;  // progress; from any thread
};

// Decodes every record of the split. Padding is left out, as the packer leaves it out: the part
// of a crop that lies outside its source.
Result<SplitRecount> RecountSplit(const ShardSet& set, const ShardSet::Split& split,
                                  const RecountOptions& options);

// Counts one record whose fields are decoded by `tensor_of`, which is asked only for those that
// statistics are kept of. Fills in all of `statistics` but its number of records.
Status CountFields(const RecordSchema& schema, const proto::RecordMeta& meta,
                   const std::function<Result<Tensor>(int field)>& tensor_of,
                   proto::Statistics* statistics);

// One line for each number that differs: "class 3 (pole): 120 pixels in the manifest, 121 in
// the records". Empty: they agree.
std::vector<std::string> CompareStatistics(const RecordSchema& schema,
                                           const proto::Statistics& manifest,
                                           const proto::Statistics& counted);

}  // namespace shardmill
