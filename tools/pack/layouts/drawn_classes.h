// The class table of labels that are drawn from shapes.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/layout.h"

namespace shardmill {

// The user's table, one at the top of the folder, or else `names` in their order, with a class for
// the background first where the table has none. Names that mean "no class" are left out.
Status UseDrawnClasses(const LayoutInput& input, const std::vector<std::string>& names,
                       InputSet* set);

}  // namespace shardmill
