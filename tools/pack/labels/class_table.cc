#include "tools/pack/labels/class_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "reader/base/file.h"
#include "reader/names.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/class_table_forms.h"
#include "tools/pack/labels/unused_class.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxTableBytes = uint64_t{1} << 26;

// Which column holds what.
struct Columns {
  size_t name = 0;
  std::optional<size_t> id;
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

char FindSeparator(std::string_view line) {
  for (char separator : {',', ';', '\t'}) {
    if (line.find(separator) != std::string_view::npos) return separator;
  }
  return ',';
}

Result<std::vector<Row>> SplitRows(const std::vector<TextLine>& lines) {
  const char separator = FindSeparator(lines.front().text);
  std::vector<Row> rows;
  for (const TextLine& line : lines) {
    Result<std::vector<std::string>> fields = SplitFields(line.text, separator);
    if (!fields.ok()) return AtLine(line.number, fields.status().message());
    rows.push_back({line.number, std::move(fields).value()});
  }
  return rows;
}

// More fields than the first row has belong to no column: a name may have been cut.
Status CheckWidths(const std::vector<Row>& rows) {
  const size_t width = rows.front().fields.size();
  for (const Row& row : rows) {
    for (size_t i = width; i < row.fields.size(); ++i) {
      if (row.fields[i].empty()) continue;
      return AtLine(row.line, std::to_string(row.fields.size()) +
                                  " columns, and the first row has " + std::to_string(width) +
                                  "; put quotes around names that hold separators");
    }
  }
  return OkStatus();
}

// The column of the first of the names that there is one of.
std::optional<size_t> FindColumn(const Row& header, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    for (size_t i = 0; i < header.fields.size(); ++i) {
      if (LowerCase(header.fields[i]) == name) return i;
    }
  }
  return std::nullopt;
}

bool IsColor(const Row& row, size_t first) {
  return row.fields.size() >= first + 3 && ParseLevel(row.fields[first]) &&
         ParseLevel(row.fields[first + 1]) && ParseLevel(row.fields[first + 2]);
}

std::optional<Columns> FindHeader(const Row& first) {
  Columns columns;
  columns.has_header = true;
  const auto name =
      FindColumn(first, {"name", "class_name", "class name", "classname", "class", "label", "names",
                         "classes", "labels", "category", "categories"});
  const auto r = FindColumn(first, {"r", "red"});
  const auto g = FindColumn(first, {"g", "green"});
  const auto b = FindColumn(first, {"b", "blue"});
  columns.id = FindColumn(
      first, {"id", "class_id", "label_id", "index", "value", "pixel_value", "pixel value"});
  const int levels = (r ? 1 : 0) + (g ? 1 : 0) + (b ? 1 : 0);
  if (!name || levels % 3 != 0) return std::nullopt;
  columns.name = *name;
  if (levels == 3) columns.color = {*r, *g, *b};
  const bool is_header = levels == 3 || columns.id.has_value() || first.fields.size() == 1;
  return is_header ? std::optional(columns) : std::nullopt;
}

Result<Columns> FindColumns(const Row& first) {
  if (const auto header = FindHeader(first)) return *header;
  Columns columns;
  if (IsColor(first, 1)) {
    columns.color = {1, 2, 3};
  } else if (IsColor(first, 2) && ParseClassId(first.fields[0])) {
    columns.id = 0;
    columns.name = 1;
    columns.color = {2, 3, 4};
  } else if (first.fields.size() > 1) {
    return AtLine(first.line,
                  "neither a header with the columns name, r, g, b (or id, name) nor a class with "
                  "its colour");
  }
  return columns;
}

Result<TableEntry> ParseRow(const Row& row, const Columns& columns) {
  TableEntry entry;
  entry.line = row.line;
  if (columns.name < row.fields.size()) entry.name = row.fields[columns.name];
  if (columns.id.has_value()) {
    const std::string text = *columns.id < row.fields.size() ? row.fields[*columns.id] : "";
    entry.id = ParseClassId(text);
    if (!entry.id.has_value()) {
      return AtLine(row.line, "the id '" + text + "' of class '" + entry.name +
                                  "' is no whole number from 0 to 65534");
    }
  }
  if (!columns.color.has_value()) return entry;
  uint32_t color = 0;
  for (size_t column : *columns.color) {
    std::optional<uint32_t> level;
    if (column < row.fields.size()) level = ParseLevel(row.fields[column]);
    if (!level) {
      return AtLine(row.line, "the colour of class '" + entry.name +
                                  "' is not three whole numbers from 0 to 255");
    }
    color = color << 8 | *level;
  }
  entry.color = color;
  return entry;
}

Result<std::vector<TableEntry>> ParseCsv(const std::vector<TextLine>& lines) {
  ASSIGN_OR_RETURN(std::vector<Row> rows, SplitRows(lines));
  ASSIGN_OR_RETURN(const Columns columns, FindColumns(rows.front()));
  const bool names_alone = !columns.id.has_value() && !columns.color.has_value();
  if (names_alone && !columns.has_header) RETURN_IF_ERROR(CheckPlainNames(lines));
  RETURN_IF_ERROR(CheckWidths(rows));
  if (columns.has_header) rows.erase(rows.begin());
  if (rows.empty()) return InvalidArgumentError("the class table has a header but no class");
  std::vector<TableEntry> entries;
  for (const Row& row : rows) {
    ASSIGN_OR_RETURN(TableEntry entry, ParseRow(row, columns));
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool LooksLikeJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

Result<std::vector<TableEntry>> ParseEntries(std::string_view text) {
  if (LooksLikeJson(text)) return ParseClassJson(text);
  ASSIGN_OR_RETURN(std::vector<TextLine> lines, SplitLines(text));
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [](const TextLine& line) { return line.text[0] == '#'; }),
              lines.end());
  if (lines.empty()) return InvalidArgumentError("the class table is empty");
  if (auto entries = ParseLabelMap(lines)) return *std::move(entries);
  if (auto entries = ParseColorLines(lines)) return *std::move(entries);
  if (auto entries = ParseNumberedNames(lines)) return *std::move(entries);
  return ParseCsv(lines);
}

Status AtEntry(const TableEntry& entry, const std::string& message) {
  return entry.line == 0 ? InvalidArgumentError(message) : AtLine(entry.line, message);
}

Status CheckName(const TableEntry& entry) {
  if (entry.name.empty()) return AtEntry(entry, "the class has no name");
  if (IsRecordKey(entry.name)) return OkStatus();
  return AtEntry(entry, "the class name is not UTF-8 text without control characters");
}

Status CheckNamesAndColors(const std::vector<TableEntry>& entries, DoubledColors doubled_colors) {
  std::map<std::string, uint64_t> line_of_name;
  std::map<uint32_t, uint64_t> line_of_color;
  for (const TableEntry& entry : entries) {
    RETURN_IF_ERROR(CheckName(entry));
    auto [name, new_name] = line_of_name.emplace(entry.name, entry.line);
    if (!new_name) {
      return AtEntry(entry, "class '" + entry.name + "' stands in line " +
                                std::to_string(name->second) + " already");
    }
    if (!entry.color.has_value() || doubled_colors == DoubledColors::kAllow) continue;
    auto [color, new_color] = line_of_color.emplace(*entry.color, entry.line);
    if (new_color) continue;
    return AtEntry(entry, "class '" + entry.name + "' has the colour of line " +
                              std::to_string(color->second));
  }
  return OkStatus();
}

// The id that the table gives an entry, or in a table without ids its place.
Result<uint32_t> IdOf(const TableEntry& entry, uint32_t place, bool all_have_ids) {
  const uint32_t id = entry.id.value_or(place);
  if (!all_have_ids && id != place) {
    return AtEntry(entry, "class '" + entry.name + "' has the id " + std::to_string(id) +
                              ", and other classes have none");
  }
  if (id < kMaxClasses) return id;
  return AtEntry(entry, "class '" + entry.name + "' has the id " + std::to_string(id) +
                            "; ids go from 0 to 65534 (--map FILE gives larger label values a "
                            "class)");
}

}  // namespace

Result<std::vector<ClassInfo>> MakeClassTable(const std::vector<TableEntry>& entries,
                                              DoubledColors doubled_colors) {
  if (entries.empty()) return InvalidArgumentError("the class table is empty");
  if (entries.size() > kMaxClasses) return InvalidArgumentError("more than 65,535 classes");
  RETURN_IF_ERROR(CheckNamesAndColors(entries, doubled_colors));
  std::vector<ClassInfo> classes;
  const bool all_have_ids = std::all_of(
      entries.begin(), entries.end(), [](const TableEntry& entry) { return entry.id.has_value(); });
  std::map<uint32_t, const TableEntry*> entry_of_id;
  for (uint32_t place = 0; place < entries.size(); ++place) {
    const TableEntry& entry = entries[place];
    ASSIGN_OR_RETURN(const uint32_t id, IdOf(entry, place, all_have_ids));
    auto [other, is_new] = entry_of_id.emplace(id, &entry);
    if (is_new) continue;
    return AtEntry(entry, "class '" + entry.name + "' has the id " + std::to_string(id) +
                              " of class '" + other->second->name + "'");
  }
  for (const auto& [id, entry] : entry_of_id) {
    while (classes.size() < id)
      classes.push_back(UnusedClass(static_cast<uint32_t>(classes.size())));
    classes.push_back({id, entry->name, entry->color});
  }
  return classes;
}

Result<std::vector<ClassInfo>> ParseClassTable(std::string_view text,
                                               DoubledColors doubled_colors) {
  ASSIGN_OR_RETURN(const std::vector<TableEntry> entries, ParseEntries(text));
  return MakeClassTable(entries, doubled_colors);
}

Result<std::vector<ClassInfo>> ReadClassTable(const std::string& path,
                                              DoubledColors doubled_colors) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path, kMaxTableBytes));
  Result<std::vector<ClassInfo>> classes = ParseClassTable(text, doubled_colors);
  if (!classes.ok()) return classes.status().WithContext(path);
  return classes;
}

bool AllHaveColors(const std::vector<ClassInfo>& classes) {
  return !classes.empty() && std::all_of(classes.begin(), classes.end(), [](const ClassInfo& info) {
    return info.color.has_value() || IsUnusedClass(info);
  });
}

}  // namespace shardmill
