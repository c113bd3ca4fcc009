// The stages of packing PNG pairs, each timed alone.
#pragma once

#include "reader/base/status.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

// Seconds of one thread for all pairs of a plan: each stage by itself, its input in memory, the
// best of several rounds for each pair.
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

// Times the first record of each input. An error when a file cannot be decoded by the fast path.
Result<StageTimes> TimeStages(const PackPlan& plan);

}  // namespace shardmill
