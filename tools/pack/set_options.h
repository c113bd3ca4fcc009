// Options that mean nothing for the set that was read, or contradict each other.
//
// Free function without state.
#pragma once

#include "reader/base/status.h"
#include "tools/pack/inputs/input_set.h"
#include "tools/pack/pack_options.h"

namespace shardmill {

// InvalidArgument names the option and what it is for.
Status CheckSetOptions(const InputSet& set, const PackOptions& options);

}  // namespace shardmill
