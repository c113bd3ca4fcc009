// Finds keys that occur twice in a data set. Part of verify.h.
#pragma once

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
  std::string key;
  size_t shard = 0;  // index of the report
  uint64_t record = 0;
  size_t first_shard = 0;  // where the key occurs first
  uint64_t first_record = 0;
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
