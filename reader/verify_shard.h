// Verifies one shard file, going on after damage as far as the rest can still be found.
//
// Part of verify.h. VerifyShard may run on several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reader/finding.h"
#include "reader/schema.h"
#include "reader/shard_parts.h"
#include "reader/verify_block.h"

namespace shardmill {

struct ShardReport {
  std::string path;
  uint64_t blocks = 0;
  uint64_t records = 0;  // of the blocks that were found
  uint64_t bytes = 0;    // of the file
  std::vector<Finding> findings;
  std::vector<KeyHash> keys;
  // Superblock, schema, footer and postscript; null unless all four are sound and agree.
  std::unique_ptr<ShardParts> parts;
};

// `fallback_schema` (may be null) stands in when the shard's own is lost. `advance` is told how
// many more bytes are done, and stops the work by returning false.
ShardReport VerifyShard(const std::string& path, const RecordSchema* fallback_schema,
                        const std::function<bool(uint64_t)>& advance);

}  // namespace shardmill
