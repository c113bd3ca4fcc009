// Finds keys that occur twice in a data set. Part of verify.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/key_hashes.h"
#include "reader/verify.h"
#include "reader/verify_shard.h"

namespace shardmill {

struct DuplicateKey {
  // Where a key was met: indices of the report and of the block in it, number in the block.
  struct Place {
    size_t shard = 0;
    size_t block = 0;
    uint32_t index = 0;
  };

  std::string key;
  Place place;
  Place first;  // the first place with this key
};

// Every record whose key an earlier record has, in order. `gathered` are the keys that verification
// met; parts of their range that did not fit into memory are gathered again, in as many passes over
// the metadata as it takes. Real keys are read only of records whose hash is not the only one of
// its kind. Records of blocks whose header or metadata is damaged have no key.
Result<std::vector<DuplicateKey>> FindDuplicateKeys(
    const std::vector<ShardReport>& shards, const VerifyOptions& options,
    std::vector<std::unique_ptr<KeyHashes>> gathered);

Finding DuplicateKeyFinding(const DuplicateKey& duplicate, const std::vector<ShardReport>& shards);

}  // namespace shardmill
