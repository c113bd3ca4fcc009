// Reads the class table of a data set: names, and colours when it has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"

namespace shardmill {

constexpr size_t kMaxClasses = 65535;

// A table with the columns name, r, g, b in any order and case, found by the header; other
// columns are left alone. Without a header line the columns are name,r,g,b, or the name alone.
// Ids follow the lines. Separators: comma, semicolon or tab. InvalidArgument names the line of a
// doubled name or colour, or of a number that is not 0 … 255.
Result<std::vector<ClassInfo>> ParseClassTable(std::string_view text);
Result<std::vector<ClassInfo>> ReadClassTable(const std::string& path);

// True when every class has a colour.
bool AllHaveColors(const std::vector<ClassInfo>& classes);

}  // namespace shardmill
