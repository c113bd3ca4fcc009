// Reads the class table of a data set: names, and colours when it has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"

namespace shardmill {

constexpr size_t kMaxClasses = 65535;

// Two classes of one colour cannot be told apart in label files that hold colours. Where colours
// are for display only, it does no harm.
enum class DoubledColors { kRefuse, kAllow };

// A table with the columns name, r, g, b in any order and case, found by the header; other
// columns are left alone. Without a header line the columns are name,r,g,b, or the name alone.
// Ids follow the lines. Separators: comma, semicolon or tab. InvalidArgument names the line of a
// doubled name or colour, or of a number that is not 0 … 255. The other forms of
// class_table_forms.h are recognised too.
Result<std::vector<ClassInfo>> ParseClassTable(
    std::string_view text, DoubledColors doubled_colors = DoubledColors::kRefuse);
Result<std::vector<ClassInfo>> ReadClassTable(
    const std::string& path, DoubledColors doubled_colors = DoubledColors::kRefuse);

// Numbers the entries and checks their names and colours.
struct TableEntry;
Result<std::vector<ClassInfo>> MakeClassTable(const std::vector<TableEntry>& entries,
                                              DoubledColors doubled_colors);

// True when every class has a colour.
bool AllHaveColors(const std::vector<ClassInfo>& classes);

}  // namespace shardmill
