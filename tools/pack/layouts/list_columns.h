// The names that people give the columns of lists.
//
// Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardmill {

constexpr size_t kNoColumn = SIZE_MAX;

struct ListColumns {
  size_t image = 0, label = 1, split = kNoColumn;
  // For a column of splits that says yes or no, as is_valid: the split of each. Else empty.
  std::string split_of_yes, split_of_no;
  size_t count = 0;  // of the first line; 0: the fields are not counted
};

struct ListHeader {
  ListColumns columns;
  std::string problem;  // two columns for one thing, named; empty: there is none
};

// The columns that a first line names; nullopt: it names none of images or none of labels, so it
// may be a line like the others.
std::optional<ListHeader> ParseListHeader(const std::vector<std::string>& fields);

// True for the name of a column of images, as "image_path", "imgs", "file_name".
bool NamesImageColumn(std::string_view field);

enum class ColumnOrder { kImageFirst, kLabelFirst, kUnknown, kSameTwice };
// What the names of two columns say of their order. One that is known says it for both.
ColumnOrder OrderOfColumns(std::string_view first, std::string_view second);

}  // namespace shardmill
