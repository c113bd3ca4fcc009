// How large the sources of a data set were, from the metadata of its records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/dump/shard_set.h"

namespace shardmill {

// A bar of the histogram.
struct SizeBar {
  std::string label;  // "352 high × 480 wide", "1 to 2 megapixels"
  uint64_t sources = 0;
};

struct SourceSizes {
  uint64_t sources = 0;
  uint64_t distinct = 0;      // sizes
  std::vector<SizeBar> bars;  // each size when there are few, else classes by area
};

// A source counts once, however many records were made of it. Safe for concurrent use.
Result<SourceSizes> CountSourceSizes(const ShardSet& set);

}  // namespace shardmill
