// A shard that lies finished in a folder: whether it is the one that a plan wants there, and what
// it says of itself.
#pragma once

#include <cstdint>
#include <string>

#include "proto/manifest.pb.h"
#include "reader/base/checksum.h"
#include "reader/base/status.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

struct FinishedShard {
  uint64_t records = 0;
  uint64_t bytes = 0;  // of the file
  Digest digest = {};
  proto::ShardSummary summary;
};

// Checks superblock, schema, block headers, footer, postscript and digest, and that they fit the
// plan; no record is read. NotFound when there is no such file, DataLoss when it does not fit.
Result<FinishedShard> ReadFinishedShard(const PackPlan& plan, const PlannedShard& shard,
                                        const std::string& folder);

// Whether a pack with this policy may have made it: one that stops at the first failure must meet
// it again, the inputs that are known to be none excepted.
bool KeepsTo(const ErrorPolicy& policy, const FinishedShard& shard);

}  // namespace shardmill
