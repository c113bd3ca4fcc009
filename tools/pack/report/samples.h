// Records of a data set as small pictures in an HTML page.
#pragma once

#include <string>

#include "reader/base/status.h"
#include "tools/dump/palette.h"
#include "tools/dump/shard_set.h"

namespace shardmill {

// `count` records, taken evenly from the splits: <figure> elements, the label over the image. A
// record that cannot be shown says why. The same on any number of threads; safe for concurrent use.
Result<std::string> DrawSamples(const ShardSet& set, const ClassPalette& palette, uint64_t count,
                                int threads);

}  // namespace shardmill
