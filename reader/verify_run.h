// Verifies many shards on several threads: whole shards side by side, and the blocks of one.
//
// Part of verify.h. What is reported does not depend on the threads.
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

struct VerifyRun {
  std::vector<ShardReport> shards;               // in the order of the paths
  std::vector<std::unique_ptr<KeyHashes>> keys;  // of each thread
};

// Cancelled when options.cancelled says so; Io when a file cannot be read although it is there, or
// memory runs out: then nothing is known of the shard, and nothing is lost. The keys that were met
// are gathered as far as `range` goes.
Result<VerifyRun> RunVerification(const std::vector<std::string>& paths,
                                  const ShardFallback& fallback, const VerifyOptions& options,
                                  HashRange* range);

}  // namespace shardmill
