// Writes the shards of one split, one after the other, from its inputs in planned order.
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

namespace shardmill {

class ShardSequence {
 public:
  // The plan must outlive the object.
  ShardSequence(const PackPlan& plan, const SplitPlan& split, std::string folder);

  // Input `index` of the plan, in order and without gaps: packed, or left out.
  Status Append(uint64_t index, std::vector<EncodedRecord> records,
                const proto::Statistics& statistics);
  Status Skip(uint64_t index, const Problem& problem, const proto::Statistics& statistics);
  Status Finish();

  const std::vector<ShardResult>& shards() const { return shards_; }
  uint64_t bytes() const;

 private:
  Status GoTo(uint64_t index);
  Status OpenNext();
  Status CloseCurrent();

  const PackPlan& plan_;
  const SplitPlan& split_;
  const std::string folder_;
  std::unique_ptr<ShardWriter> writer_;
  proto::ShardSummary summary_;  // of the shard in work
  std::vector<ShardResult> shards_;
};

}  // namespace shardmill
