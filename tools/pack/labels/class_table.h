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

// A table with the columns name, r, g, b and id in any order and case, found by the header; other
// columns are left alone, and without r, g, b there are no colours. Without a header line the
// columns are name,r,g,b, or id,name,r,g,b, or the name alone. Separators: comma, semicolon or tab.
// The other forms of class_table_forms.h are recognised too.
//
// Without ids a class's id is its place in the table. Ids may stand in any order and have gaps;
// they are the values that label files hold and that records store. What lies in a gap is an
// UnusedClass, and a label value that is none of the ids is unknown. InvalidArgument names the line
// of a doubled name, colour or id, and of a number that is out of range.
Result<std::vector<ClassInfo>> ParseClassTable(
    std::string_view text, DoubledColors doubled_colors = DoubledColors::kRefuse);
Result<std::vector<ClassInfo>> ReadClassTable(
    const std::string& path, DoubledColors doubled_colors = DoubledColors::kRefuse);

// Checks names, colours and ids, and puts each entry into the place of its id.
struct TableEntry;
Result<std::vector<ClassInfo>> MakeClassTable(const std::vector<TableEntry>& entries,
                                              DoubledColors doubled_colors);

// True when every class has a colour, unused ids excepted.
bool AllHaveColors(const std::vector<ClassInfo>& classes);

}  // namespace shardmill
