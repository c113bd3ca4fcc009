// Groups of inputs by what a pattern finds in their keys, for --split-by group.
//
// Free function without state.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/inputs/input_set.h"

namespace shardmill {

// The group of each sample: what the parenthesised parts of `pattern` (ECMAScript) match in its
// key, or else all of it. InvalidArgument when the pattern is none, is not found in a key, or takes
// too many steps with one, which depends on the key and the pattern alone. Cancelled on Ctrl-C.
Result<std::vector<std::string>> FindGroups(const std::string& pattern,
                                            const std::vector<Sample>& samples);

}  // namespace shardmill
