#include "tools/pack/class_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "reader/base/file.h"
#include "reader/names.h"
#include "tools/pack/text_lines.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxTableBytes = uint64_t{1} << 26;

// Which column holds what.
struct Columns {
  size_t name = 0;
  std::optional<std::array<size_t, 3>> color;
  bool has_header = false;
};

struct Row {
  uint64_t line = 0;
  std::vector<std::string> fields;
};

Status AtLine(uint64_t line, const std::string& message) {
  return InvalidArgumentError("line " + std::to_string(line) + ": " + message);
}

// "219", "219.0": some tables hold decimals. nullopt for anything but a whole number 0 … 255.
std::optional<uint32_t> ParseLevel(std::string_view text) {
  size_t point = text.find('.');
  std::string_view whole = text.substr(0, point);
  if (point != std::string_view::npos &&
      text.find_first_not_of('0', point + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  uint32_t value = 0;
  auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  if (error != std::errc() || end != whole.data() + whole.size() || value > 255)
    return std::nullopt;
  return value;
}

char FindSeparator(std::string_view line) {
  for (char separator : {',', ';', '\t'}) {
    if (line.find(separator) != std::string_view::npos) return separator;
  }
  return ',';
}

Result<std::vector<Row>> SplitRows(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<TextLine> lines, SplitLines(text));
  if (lines.empty()) return InvalidArgumentError("the class table is empty");
  const char separator = FindSeparator(lines.front().text);
  std::vector<Row> rows;
  for (const TextLine& line : lines) {
    Result<std::vector<std::string>> fields = SplitFields(line.text, separator);
    if (!fields.ok()) return AtLine(line.number, fields.status().message());
    rows.push_back({line.number, std::move(fields).value()});
  }
  return rows;
}

std::optional<size_t> FindColumn(const Row& header, std::initializer_list<std::string_view> names) {
  for (size_t i = 0; i < header.fields.size(); ++i) {
    std::string field = LowerCase(header.fields[i]);
    if (std::find(names.begin(), names.end(), field) != names.end()) return i;
  }
  return std::nullopt;
}

bool IsColorRow(const Row& row) {
  return row.fields.size() >= 4 && ParseLevel(row.fields[1]) && ParseLevel(row.fields[2]) &&
         ParseLevel(row.fields[3]);
}

Result<Columns> FindColumns(const Row& first) {
  Columns columns;
  std::optional<size_t> name = FindColumn(first, {"name", "class", "class_name", "label"});
  std::optional<size_t> r = FindColumn(first, {"r", "red"});
  std::optional<size_t> g = FindColumn(first, {"g", "green"});
  std::optional<size_t> b = FindColumn(first, {"b", "blue"});
  if (name && r && g && b) {
    columns.name = *name;
    columns.color = {*r, *g, *b};
    columns.has_header = true;
  } else if (IsColorRow(first)) {
    columns.color = {1, 2, 3};
  } else if (first.fields.size() == 1) {
    columns.has_header = name.has_value();
  } else {
    return AtLine(first.line,
                  "neither a header with the columns name, r, g, b nor a class with its colour");
  }
  return columns;
}

Result<ClassInfo> ParseRow(const Row& row, const Columns& columns) {
  ClassInfo info;
  if (columns.name >= row.fields.size() || row.fields[columns.name].empty()) {
    return AtLine(row.line, "the class has no name");
  }
  info.name = row.fields[columns.name];
  if (!IsRecordKey(info.name)) {
    return AtLine(row.line, "the class name is not UTF-8 text without control characters");
  }
  if (!columns.color.has_value()) return info;
  uint32_t color = 0;
  for (size_t column : *columns.color) {
    std::optional<uint32_t> level;
    if (column < row.fields.size()) level = ParseLevel(row.fields[column]);
    if (!level) {
      return AtLine(row.line, "the colour of class '" + info.name +
                                  "' is not three whole numbers from 0 to 255");
    }
    color = color << 8 | *level;
  }
  info.color = color;
  return info;
}

}  // namespace

Result<std::vector<ClassInfo>> ParseClassTable(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Row> rows, SplitRows(text));
  ASSIGN_OR_RETURN(Columns columns, FindColumns(rows.front()));
  if (columns.has_header) rows.erase(rows.begin());
  if (rows.empty()) return InvalidArgumentError("the class table has a header but no class");
  if (rows.size() > kMaxClasses) return InvalidArgumentError("more than 65,535 classes");
  std::vector<ClassInfo> classes;
  std::map<std::string, uint64_t> line_of_name;
  std::map<uint32_t, uint64_t> line_of_color;
  for (const Row& row : rows) {
    ASSIGN_OR_RETURN(ClassInfo info, ParseRow(row, columns));
    info.id = static_cast<uint32_t>(classes.size());
    auto [name, new_name] = line_of_name.emplace(info.name, row.line);
    if (!new_name) {
      return AtLine(row.line, "class '" + info.name + "' stands in line " +
                                  std::to_string(name->second) + " already");
    }
    if (info.color.has_value()) {
      auto [color, new_color] = line_of_color.emplace(*info.color, row.line);
      if (!new_color) {
        return AtLine(row.line, "class '" + info.name + "' has the colour of line " +
                                    std::to_string(color->second));
      }
    }
    classes.push_back(std::move(info));
  }
  return classes;
}

Result<std::vector<ClassInfo>> ReadClassTable(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path, kMaxTableBytes));
  Result<std::vector<ClassInfo>> classes = ParseClassTable(text);
  if (!classes.ok()) return classes.status().WithContext(path);
  return classes;
}

bool AllHaveColors(const std::vector<ClassInfo>& classes) {
  return !classes.empty() && std::all_of(classes.begin(), classes.end(), [](const ClassInfo& info) {
    return info.color.has_value();
  });
}

}  // namespace shardmill
