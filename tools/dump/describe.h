// Words that several verbs of `dump` share: shapes, shares, colours on a terminal.
//
// Pure functions; safe for concurrent use. Names that come from data are escaped here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/schema.h"
#include "tools/dump/picture.h"

namespace shardmill {

// "352 × 480 × 3"; a variable dimension is "?".
std::string DescribeShape(const std::vector<int64_t>& shape);

// "index, zstd"; "raw".
std::string DescribeStorage(const FieldSpec& spec);

// "12.3 %", with more digits when it is small; "0 %" for nothing at all; "" when `whole` is 0.
std::string DescribeShare(uint64_t part, uint64_t whole);

// "104.27"
std::string DescribeNumber(double value, int digits);

// "#8040ff"
std::string DescribeColor(uint32_t color);

// The class's name as a terminal may show it, or "class 7" when it has none.
std::string DescribeClass(const std::vector<ClassInfo>& classes, int64_t id);

// Two blanks on the colour, for terminals; empty unless `colored`.
std::string TerminalSwatch(Rgb color, bool colored);
std::string Bold(std::string_view text, bool colored);

// An empty line, the title, the body.
std::string Section(const std::string& title, const std::string& body, bool colored);

}  // namespace shardmill
