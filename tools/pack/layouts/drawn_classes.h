// The class table of labels that are drawn from shapes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/layouts/layout.h"

namespace shardmill {

// Names of the class of pixels that no shape covers: "background" or "_background_", in any case.
bool MeansBackground(const std::string& name);
// That class.
std::optional<uint32_t> FindBackground(const std::vector<ClassInfo>& classes);

// The user's table or one at the top of the folder, whose ids stay as they are; or else `names` in
// their order, the background first. A class is made for the background where there is none.
// Names that mean "no class" are left out.
Status UseDrawnClasses(const LayoutInput& input, const std::vector<std::string>& names,
                       InputSet* set);

}  // namespace shardmill
