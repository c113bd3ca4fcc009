// Finds keys that occur twice in a data set. Part of verify.h.
#pragma once

#include <vector>

#include "reader/verify_shard.h"

namespace shardmill {

// Adds a finding to the shard of each record whose key an earlier record has. Takes 24 bytes of
// memory per record; candidates are confirmed by reading the two keys.
void AddDuplicateKeys(std::vector<ShardReport>* shards);

}  // namespace shardmill
