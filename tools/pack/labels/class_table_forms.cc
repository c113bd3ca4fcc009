#include "tools/pack/labels/class_table_forms.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "tools/pack/inputs/json_document.h"

namespace shardmill {
namespace {

std::optional<uint32_t> ParseColor(const std::vector<std::string>& levels) {
  if (levels.size() != 3) return std::nullopt;
  uint32_t color = 0;
  for (const std::string& text : levels) {
    const std::optional<uint32_t> level = ParseLevel(text);
    if (!level.has_value()) return std::nullopt;
    color = color << 8 | *level;
  }
  return color;
}

std::optional<TableEntry> ParseLabelMapLine(const TextLine& line) {
  const size_t colon = line.text.find(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  const size_t end = std::min(line.text.find(':', colon + 1), line.text.size());
  const std::string levels = line.text.substr(colon + 1, end - colon - 1);
  Result<std::vector<std::string>> fields = SplitFields(levels, ',');
  TableEntry entry = {line.number, std::string(TrimBlanks(line.text.substr(0, colon)))};
  if (TrimBlanks(levels).empty()) return entry;
  if (!fields.ok()) return std::nullopt;
  entry.color = ParseColor(*fields);
  return entry.color.has_value() ? std::optional<TableEntry>(entry) : std::nullopt;
}

std::optional<TableEntry> ParseColorLine(const TextLine& line) {
  std::vector<std::string> levels;
  size_t at = 0;
  for (int i = 0; i < 3; ++i) {
    const size_t end = line.text.find_first_of(" \t", at);
    if (end == std::string::npos) return std::nullopt;
    levels.push_back(line.text.substr(at, end - at));
    at = line.text.find_first_not_of(" \t", end);
  }
  const std::optional<uint32_t> color = ParseColor(levels);
  if (!color.has_value()) return std::nullopt;
  return TableEntry{line.number, line.text.substr(at), color};
}

std::optional<TableEntry> ParseNumberedName(const TextLine& line) {
  const size_t end = line.text.find_first_of(" \t:,;");
  if (end == std::string::npos) return std::nullopt;
  const size_t name = line.text.find_first_not_of(" \t", end + (line.text[end] == ' ' ? 0 : 1));
  TableEntry entry = {line.number, ""};
  entry.id = ParseClassId(std::string_view(line.text).substr(0, end));
  if (!entry.id.has_value() || name == std::string::npos) return std::nullopt;
  entry.name = line.text.substr(name);
  // With more columns it is a table of another form.
  const bool is_table = std::string_view(",;\t").find(line.text[end]) != std::string_view::npos;
  if (is_table && entry.name.find(line.text[end]) != std::string::npos) return std::nullopt;
  return entry;
}

template <typename ParseLine>
std::optional<std::vector<TableEntry>> ParseAll(const std::vector<TextLine>& lines,
                                                ParseLine parse_line) {
  std::vector<TableEntry> entries;
  for (const TextLine& line : lines) {
    std::optional<TableEntry> entry = parse_line(line);
    if (!entry.has_value()) return std::nullopt;
    entries.push_back(*std::move(entry));
  }
  return entries.empty() ? std::nullopt : std::optional(std::move(entries));
}

// Where the last `count` words begin; 0: there are not so many with a word before them.
size_t LastWords(std::string_view text, int count) {
  size_t begin = text.size();
  for (int i = 0; i < count && begin > 0; ++i) {
    const size_t blank = text.find_last_of(" \t", begin - 1);
    if (blank == std::string_view::npos) return 0;
    if (i + 1 == count) return blank + 1;
    begin = text.find_last_not_of(" \t", blank) + 1;
  }
  return 0;
}

bool AllEndInNumbers(const std::vector<TextLine>& lines, int count) {
  return std::all_of(lines.begin(), lines.end(), [count](const TextLine& line) {
    const size_t begin = LastWords(line.text, count);
    return begin > 0 && line.text.find_first_not_of("0123456789 \t", begin) == std::string::npos;
  });
}

// "road 2" and "sky 0", not "class 0" and "class 1".
bool BeginDifferently(const std::vector<TextLine>& lines) {
  const auto name = [](const TextLine& line) {
    return line.text.substr(0, LastWords(line.text, 1));
  };
  return std::any_of(lines.begin(), lines.end(),
                     [&](const TextLine& line) { return name(line) != name(lines.front()); });
}

std::optional<uint32_t> ParseJsonColor(const rapidjson::Value& value) {
  if (value.IsString() && value.GetStringLength() == 7 && value.GetString()[0] == '#') {
    uint32_t color = 0;
    const char* end = value.GetString() + 7;
    auto [stop, error] = std::from_chars(value.GetString() + 1, end, color, 16);
    return error == std::errc() && stop == end ? std::optional(color) : std::nullopt;
  }
  if (!value.IsArray() || value.Size() < 3) return std::nullopt;
  uint32_t color = 0;
  for (rapidjson::SizeType i = 0; i < 3; ++i) {
    if (!value[i].IsUint() || value[i].GetUint() > 255) return std::nullopt;
    color = color << 8 | value[i].GetUint();
  }
  return color;
}

Result<TableEntry> ParseJsonEntry(const rapidjson::Value& value, size_t place) {
  const std::string where = "class " + std::to_string(place);
  TableEntry entry;
  if (value.IsString()) {
    entry.name = std::string(value.GetString(), value.GetStringLength());
    return entry;
  }
  for (const char* name : {"name", "title", "label"}) {
    if (entry.name.empty()) entry.name = TextMember(value, name);
  }
  if (entry.name.empty()) return InvalidArgumentError(where + " has no name");
  const rapidjson::Value* id = FindMember(value, "id");
  if (id != nullptr && !id->IsUint()) {
    return InvalidArgumentError(where + ", '" + entry.name +
                                "', has an id that is no whole number");
  }
  if (id != nullptr) entry.id = id->GetUint();
  const rapidjson::Value* color = FindMember(value, "color");
  if (color == nullptr) return entry;
  entry.color = ParseJsonColor(*color);
  if (!entry.color.has_value()) {
    return InvalidArgumentError(where + ", '" + entry.name +
                                "', has a color that is neither [r, g, b] nor \"#rrggbb\"");
  }
  return entry;
}

// "- road", "// classes", "nc: 3": lines of other kinds of files. Empty: it may be a name.
std::string FormOfLine(std::string_view line) {
  if (line.front() == '%' || line.substr(0, 2) == "//") return "it looks like a comment";
  if (line.substr(0, 2) == "- ") return "it begins with a dash, as in a list of YAML";
  if (line.front() == '\'' && line.back() == '\'') return "it stands in single quotes";
  return line.substr(0, 3) == "nc:" ? "it gives a number of classes, as in a file of YOLO" : "";
}

// "road=2" in all lines, or "0. road" and "1) sky".
std::string FormOfAll(const std::vector<TextLine>& lines) {
  constexpr char kDigits[] = "0123456789";
  const auto all = [&](auto matches) { return std::all_of(lines.begin(), lines.end(), matches); };
  if (all([&](const TextLine& line) {
        const size_t equals = line.text.rfind('=');
        return equals != std::string::npos && equals + 1 < line.text.size() &&
               line.text.find_first_not_of(" 0123456789", equals + 1) == std::string::npos;
      })) {
    return "all lines end in = and a number, as with ids";
  }
  const bool is_numbered = all([&](const TextLine& line) {
    const size_t end = line.text.find_first_not_of(kDigits);
    return end != std::string::npos && end > 0 && (line.text[end] == '.' || line.text[end] == ')');
  });
  return is_numbered ? "all lines begin with numbers, as with ids" : "";
}

Status PlainNamesError(const TextLine& line, const std::string& form) {
  return InvalidArgumentError(
      "line " + std::to_string(line.number) + ": " + form +
      ", and no separator makes columns of them; write a table with commas and the header "
      "name,r,g,b or id,name, or the header name if these lines are the names");
}

}  // namespace

Status CheckPlainNames(const std::vector<TextLine>& lines) {
  if (lines.size() < 2) return OkStatus();
  for (const TextLine& line : lines) {
    const std::string form = FormOfLine(line.text);
    if (!form.empty()) return PlainNamesError(line, form);
  }
  if (const std::string form = FormOfAll(lines); !form.empty()) {
    return PlainNamesError(lines.front(), form);
  }
  const std::vector<TextLine> rest(lines.begin() + 1, lines.end());
  std::string form;
  if (lines.front().text.back() == ':') {
    form = "it ends in a colon, as in a file of another kind";
  } else if (ParseAll(rest, ParseNumberedName).has_value()) {
    form = "all other lines begin with numbers, as with ids";
  } else if (AllEndInNumbers(rest, 3)) {
    form = "the lines below end in three numbers, as with colours";
  } else if (AllEndInNumbers(rest, 1) && BeginDifferently(rest)) {
    form = "the lines below end in numbers, as with ids";
  } else {
    return OkStatus();
  }
  return PlainNamesError(lines.front(), form);
}

std::optional<uint32_t> ParseLevel(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  if (point != std::string_view::npos &&
      text.find_first_not_of('0', point + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  uint32_t value = 0;
  auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  if (error != std::errc() || end != whole.data() + whole.size() || value > 255) {
    return std::nullopt;
  }
  return value;
}

std::optional<uint32_t> ParseClassId(std::string_view text) {
  uint32_t id = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(id) : std::nullopt;
}

std::optional<std::vector<TableEntry>> ParseNumberedNames(const std::vector<TextLine>& lines) {
  return ParseAll(lines, ParseNumberedName);
}

std::optional<std::vector<TableEntry>> ParseLabelMap(const std::vector<TextLine>& lines) {
  return ParseAll(lines, ParseLabelMapLine);
}

std::optional<std::vector<TableEntry>> ParseColorLines(const std::vector<TextLine>& lines) {
  return ParseAll(lines, ParseColorLine);
}

Result<std::vector<TableEntry>> ParseClassJson(std::string_view text) {
  ASSIGN_OR_RETURN(const rapidjson::Document document, ParseJson(text));
  const rapidjson::Value* list = document.IsArray() ? &document : nullptr;
  for (const char* name : {"labels", "classes", "categories"}) {
    if (list == nullptr) list = FindMember(document, name);
  }
  if (list == nullptr || !list->IsArray()) {
    return InvalidArgumentError("this JSON has no list 'labels', 'classes' or 'categories'");
  }
  std::vector<TableEntry> entries;
  for (const rapidjson::Value& value : list->GetArray()) {
    ASSIGN_OR_RETURN(TableEntry entry, ParseJsonEntry(value, entries.size()));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace shardmill
