// Writes shards of a plan, one after the other, from their inputs in planned order.
//
// Not for concurrent use. Destroyed before Finish(), it leaves the shards that were complete and
// nothing of the one in work.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/status.h"
#include "reader/shard_writer.h"
#include "tools/pack/pack_plan.h"
#include "tools/pack/records/sample_encoder.h"

namespace shardmill {

class ShardSequence {
 public:
  // The plan must outlive the object.
  ShardSequence(const PackPlan& plan, std::vector<PlannedShard> shards, std::string folder);

  // The inputs of all shards in a row: how many, and where each belongs.
  uint64_t inputs() const { return begins_.back(); }
  struct Place {
    const SplitPlan* split = nullptr;
    const Sample* sample = nullptr;
  };
  Place Find(uint64_t index) const;

  // Input `index` of the row, in order and without gaps: packed, or left out.
  Status Append(uint64_t index, EncodedSample encoded);
  Status Skip(uint64_t index, const Problem& problem, const proto::Statistics& statistics);
  Status Finish();

 private:
  size_t ShardOf(uint64_t index) const;
  Status GoTo(uint64_t index);
  Status OpenNext();
  Status CloseCurrent();
  void AddCounts(const EncodedSample& encoded);
  proto::ShardSummary Summary() const;

  const PackPlan& plan_;
  const std::vector<PlannedShard> shards_;
  const std::string folder_;
  std::vector<uint64_t> begins_;  // of the inputs of each shard in the row, and the end
  size_t current_ = 0;            // the shard in work
  std::unique_ptr<ShardWriter> writer_;
  // Of the shard in work.
  proto::ShardSummary summary_;
  ConversionCounts conversions_ = {};
  LabelKindCounts label_kinds_ = {};
};

}  // namespace shardmill
