#include "reader/console/text_table.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "reader/base/status.h"

namespace shardmill {
namespace {

constexpr size_t kColumnGap = 2;

struct Range {
  uint32_t first;
  uint32_t last;
};

// The blocks of Unicode's East Asian Width W and F that names are likely to use.
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0xa4cf},
                           {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
                           {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                           {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr Range kCombining[] = {
    {0x0300, 0x036f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};

template <size_t N>
bool IsIn(const Range (&ranges)[N], uint32_t code_point) {
  return std::any_of(std::begin(ranges), std::end(ranges), [code_point](const Range& range) {
    return code_point >= range.first && code_point <= range.last;
  });
}

// Takes one character off the front. Lenient: what is no UTF-8 counts as one column a byte.
uint32_t TakeCodePoint(std::string_view* text) {
  const auto lead = static_cast<uint8_t>(text->front());
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (length == 1 || length > text->size()) {
    text->remove_prefix(1);
    return lead;
  }
  uint32_t code_point = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    code_point = code_point << 6 | (static_cast<uint8_t>((*text)[i]) & 0x3fu);
  }
  text->remove_prefix(length);
  return code_point;
}

// Takes "ESC [ … m" off the front when it stands there.
bool TakeColorSequence(std::string_view* text) {
  if (text->substr(0, 2) != "\x1b[") return false;
  const size_t end = text->find('m');
  if (end == std::string_view::npos) return false;
  text->remove_prefix(end + 1);
  return true;
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    if (TakeColorSequence(&text)) continue;
    const uint32_t code_point = TakeCodePoint(&text);
    width += IsIn(kWide, code_point) ? 2 : IsIn(kCombining, code_point) ? 0 : 1;
  }
  return width;
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::AddRow(std::vector<std::string> cells) {
  SHARDMILL_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString(int indent, bool colored) const {
  const std::vector<size_t> widths = ColumnWidths();
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const std::string margin(indent, ' ');
  std::string title_line = Line(titles, widths);
  if (colored) title_line = "\x1b[4m" + title_line + "\x1b[0m";
  std::string text = margin + title_line + "\n";
  for (const std::vector<std::string>& row : rows_) text += margin + Line(row, widths) + "\n";
  return text;
}

std::vector<size_t> TextTable::ColumnWidths() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = DisplayWidth(columns_[i].title);
    for (const std::vector<std::string>& row : rows_) {
      width = std::max(width, DisplayWidth(row[i]));
    }
    widths.push_back(width);
  }
  return widths;
}

std::string TextTable::Line(const std::vector<std::string>& cells,
                            const std::vector<size_t>& widths) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - DisplayWidth(cells[i]), ' ');
    if (i > 0) line.append(kColumnGap, ' ');
    line += columns_[i].align == Align::kRight ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace shardmill
