// The sizes of a whole set as far as the plan depends on them, from the headers of its images.
//
// Free functions without state.
#pragma once

#include "reader/base/status.h"
#include "tools/pack/input_set.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

// Looks at the images only where the options leave a size open. Without --crop all records must
// come out at one size: the most frequent one is the set's, and whether the others are an error is
// a question of the policy. InvalidArgument lists the sizes.
Result<SetSizes> FindSetSizes(const InputSet& set, const PackOptions& options, int threads);

}  // namespace shardmill
