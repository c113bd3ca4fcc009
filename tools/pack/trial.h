// Packs a few inputs without writing anything: what a whole pack would take, and what would stop
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/inputs/input_set.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

struct TrialResult {
  uint64_t tried = 0;  // inputs, with those that the plan knows to be faulty
  std::vector<Problem> problems;
  // Of the whole pack, as far as those inputs tell.
  uint64_t estimated_bytes = 0;  // as stored
  double estimated_seconds = 0;  // without writing to the disk
};

// At most 64 inputs at even distances over all splits, fewer when their files are large. Which
// ones, and everything but the time, follows from the plan alone. Cancelled on Ctrl-C.
Result<TrialResult> TryInputs(const PackPlan& plan, const PackOptions& options, int threads);

}  // namespace shardmill
