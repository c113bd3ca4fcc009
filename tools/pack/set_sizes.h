// The sizes of a whole set as far as the plan depends on them, from the headers of its images.
//
// Free functions without state.
#pragma once

#include "reader/base/status.h"
#include "tools/pack/inputs/input_set.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

// Looks at the images only where the options leave a size open. Where records come out at several
// sizes, each keeps its own.
Result<SetSizes> FindSetSizes(const InputSet& set, const PackOptions& options, int threads);

}  // namespace shardmill
