// Value maps: which class id a value of a label file becomes, as a file or a named profile says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "tools/pack/labels/label_rules.h"

namespace shardmill {

// One rule a line, "FROM TO", separated by blanks, a tab, a comma or an arrow ("->"); # begins a
// comment. FROM is a number, a range (1-150), a colour (#rrggbb) or * for all other numbers. TO is
// a class id, a range as long as FROM's, the name of a class, or "ignore". A value may stand once.
// InvalidArgument names the line.
Result<ValueMap> ParseValueMap(std::string_view text, const std::vector<ClassInfo>& classes);

// The map of a named profile ("cityscapes", …), or of a file. NotFound when there is neither.
Result<ValueMap> ReadValueMap(const std::string& name_or_path,
                              const std::vector<ClassInfo>& classes);
std::vector<std::string> ValueMapNames();

// The map of a profile that exists.
ValueMap NamedValueMap(std::string_view name);

// The same map always gives the same text: "0-6 ignore; 7 0; …", as stored in the recipe.
std::string FormatValueMap(const ValueMap& map);

// True when it makes any value one of no class.
bool MapsToIgnore(const ValueMap& map);

// InvalidArgument when the map gives an id that is no class.
Status CheckValueMap(const ValueMap& map, const std::vector<ClassInfo>& classes);

}  // namespace shardmill
