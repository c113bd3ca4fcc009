// List files: lines that name an image and its label, in the forms that people write.
//
// Free functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

struct ListedPair {
  std::string image, label;
};

struct ListRow {
  uint64_t line = 0;
  // Every way to cut the line in two. More than one only for lines of words between blanks, where
  // paths may hold blanks too: the last cut is at the last blanks.
  std::vector<ListedPair> cuts;
  std::string split;  // of a column of that name; empty: there is none
};

// The lines of a list, as far as they can be read.
struct ListLines {
  std::vector<ListRow> rows;
  bool has_header = false;                // the first line names the columns
  std::vector<std::string> single_words;  // lines that name one thing alone
  Status problem;                         // of the first line that cannot be read, naming it
};

// Fields are separated by tabs, commas or semicolons, or else by blanks; each may stand in double
// quotes. A first line that names its columns ("image,label,split") says which is which, and may
// name only one of each; else the first is the image and the second the label, and there are no
// others. Every line must have as many fields as the first, and a value in the column of splits
// where there is one.
ListLines ParseListLines(std::string_view text);
ListLines ReadListLines(const std::string& path);  // the problem names the path

// The rows; InvalidArgument names the first line that cannot be read.
Result<std::vector<ListRow>> ReadListRows(const std::string& path);

// For a row that was read in the order image, label and has them the other way round.
void SwapColumns(ListRow* row);

// True for a line that names the columns of a list.
bool IsListHeader(const std::vector<std::string>& fields);

// False for words without folder and extension, as they name columns.
bool MayBePath(std::string_view word);
// A note that a first line is taken for names of columns, in words of its own, as "id,breed".
std::string DescribeHeader(const std::string& list_file, const ListedPair& words);

}  // namespace shardmill
