// Text files that people and other programs write: list files, class tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

struct TextLine {
  uint64_t number = 0;  // from 1
  std::string text;     // without line end and without blanks at both ends; never empty
};

// The lines that hold something. A byte-order mark goes; line ends may be LF, CR LF or CR; a NUL
// byte (a UTF-16 or binary file) is InvalidArgument.
Result<std::vector<TextLine>> SplitLines(std::string_view text);
Result<std::vector<TextLine>> ReadLines(const std::string& path);

// Without blanks (space, tab) at both ends.
std::string_view TrimBlanks(std::string_view text);
// ASCII letters in lower case.
std::string LowerCase(std::string_view text);

// The fields of a line separated by `separator`. A field in double quotes may hold separators,
// and a doubled quote for a quote. InvalidArgument when a quote is not closed.
Result<std::vector<std::string>> SplitFields(std::string_view line, char separator);

}  // namespace shardmill
