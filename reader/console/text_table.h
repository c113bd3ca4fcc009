// Aligned columns for people, on a terminal or in a file.
//
// Cells are UTF-8 and are printed as they are: names that come from data go through
// EscapeControl (reader/console/terminal.h) first. Not for concurrent use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardmill {

// Columns that a terminal uses for `text`: wide East Asian characters take two, combining marks
// and escape sequences for colours none.
size_t DisplayWidth(std::string_view text);

class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit TextTable(std::vector<Column> columns);

  // As many cells as columns.
  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // The titles and the rows, each line indented by `indent` blanks, no blanks at line ends. The
  // titles are underlined by an escape sequence when `colored` (see WantsColor).
  std::string ToString(int indent, bool colored) const;

 private:
  std::vector<size_t> ColumnWidths() const;
  std::string Line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace shardmill
