// The stages of packing PNG pairs, each timed alone.
#pragma once

#include <cstddef>

#include "reader/base/status.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

// Seconds of one thread for all pairs of a plan: each stage by itself, its input in memory.
struct StageTimes {
  double inflate = 0;     // of image and label, with the checksums of their chunks and streams
  double unfilter = 0;    // likewise
  double label = 0;       // class ids of the decoded label
  double statistics = 0;  // of the windows of image and label
  double zstd = 0;        // of the window of the label
  // What else must happen to each pair.
  double read = 0;      // both files, out of the page cache
  double cut = 0;       // the window of the image
  double checksum = 0;  // of what is stored

  // Of the five stages that make the record out of the files' bytes.
  double Sum() const { return inflate + unfilter + label + statistics + zstd; }
};

// Times the first record of each input: each stage over some pairs at once, the best of several
// rounds. With one pair the same data comes again at once: its input and tables are in the cache,
// and the processor has learnt its branches, as never happens in a pack. With many it is as cold
// as there. An error when a file cannot be decoded by the fast path.
Result<StageTimes> TimeStages(const PackPlan& plan, size_t pairs_at_once);

}  // namespace shardmill
