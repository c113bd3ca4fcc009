#include "tools/pack/labels/value_map.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include "reader/base/file.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/unused_class.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxMapBytes = uint64_t{1} << 22;
constexpr uint32_t kMaxNumber = 65535;

struct Profile {
  std::string_view name, rules;
};

constexpr Profile kProfiles[] = {
    // Of black and white masks.
    {"binary", "0 0\n255 1\n"},
    // The 19 classes that are trained on; 255 is the id -1 in 8 bits.
    {"cityscapes",
     "0-6 ignore\n7-8 0-1\n9-10 ignore\n11-13 2-4\n14-16 ignore\n17 5\n18 ignore\n19-28 6-15\n"
     "29-30 ignore\n31-33 16-18\n255 ignore\n"},
    // 0 is "other".
    {"ade20k", "0 ignore\n1-150 0-149\n"},
};

struct Range {
  uint32_t first = 0, last = 0;
  uint32_t length() const { return last - first + 1; }
};

std::optional<uint32_t> ParseNumber(std::string_view text, int base, uint32_t limit) {
  uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value <= limit ? std::optional<uint32_t>(value) : std::nullopt;
}

// "12" or "3-7".
std::optional<Range> ParseRange(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = ParseNumber(text.substr(0, dash), 10, kMaxNumber);
  const auto last =
      dash == std::string_view::npos ? first : ParseNumber(text.substr(dash + 1), 10, kMaxNumber);
  if (!first || !last || *last < *first) return std::nullopt;
  return Range{*first, *last};
}

// The two halves of a rule; the second may hold blanks, as names of classes do.
std::optional<std::pair<std::string, std::string>> SplitRule(std::string_view line) {
  const size_t end = line.find_first_of(" \t,;=>");
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view from = line.substr(0, end), to = line.substr(end);
  if (to.size() > 1 && to[0] == '>' && !from.empty() && from.back() == '-') from.remove_suffix(1);
  while (!to.empty() && std::string_view(" \t,;=>").find(to[0]) != std::string_view::npos) {
    to.remove_prefix(1);
  }
  if (to.substr(0, 2) == "->") to.remove_prefix(2);
  to = TrimBlanks(to);
  if (from.empty() || to.empty()) return std::nullopt;
  return std::pair(std::string(from), std::string(to));
}

class MapParser {
 public:
  explicit MapParser(const std::vector<ClassInfo>& classes) : classes_(classes) {}

  Status AddLine(const TextLine& line);
  ValueMap Take() { return std::move(map_); }

 private:
  Status AddRule(const std::string& from, const std::string& to);
  Result<Range> ParseTarget(const std::string& to) const;
  Status Insert(uint32_t value, uint32_t id);

  const std::vector<ClassInfo>& classes_;
  ValueMap map_;
};

Status MapParser::AddLine(const TextLine& line) {
  std::string_view text = line.text;
  // A colour begins with # too, so a comment is # followed by a blank, or # at the line's start
  // without six digits behind it.
  const size_t comment = text.find("# ");
  text = TrimBlanks(text.substr(0, comment));
  const bool is_color = text.size() >= 7 && ParseNumber(text.substr(1, 6), 16, 0xFFFFFF);
  if (text.empty() || (text[0] == '#' && !is_color)) return OkStatus();
  const auto rule = SplitRule(text);
  Status status = rule.has_value() ? AddRule(rule->first, rule->second)
                                   : InvalidArgumentError("expected a value and what it becomes");
  if (status.ok()) return status;
  return InvalidArgumentError("line " + std::to_string(line.number) + ": " + status.message());
}

Result<Range> MapParser::ParseTarget(const std::string& to) const {
  const auto range = ParseRange(to);
  for (const ClassInfo& info : classes_) {
    if (info.name != to) continue;
    // A name of digits, as folders of classes have it, may be the id of another class.
    const bool is_other_id =
        range.has_value() && range->length() == 1 && range->first < classes_.size();
    if (!is_other_id || range->first == info.id) return Range{info.id, info.id};
    return InvalidArgumentError("'" + to + "' may be an id, or the name of class " +
                                std::to_string(info.id));
  }
  if (LowerCase(to) == "ignore") return Range{ValueMap::kToIgnore, ValueMap::kToIgnore};
  if (range.has_value()) return *range;
  return InvalidArgumentError("'" + to +
                              "' is neither a class id nor the name of a class nor "
                              "the word ignore");
}

Status MapParser::Insert(uint32_t value, uint32_t id) {
  if (map_.ids.emplace(value, id).second) return OkStatus();
  return InvalidArgumentError("the value stands in another line already");
}

Status MapParser::AddRule(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const Range target, ParseTarget(to));
  if (from[0] == '#') {
    const auto color = ParseNumber(std::string_view(from).substr(1), 16, 0xFFFFFF);
    if (!color || from.size() != 7) return InvalidArgumentError("'" + from + "' is not #rrggbb");
    if (target.length() != 1) return InvalidArgumentError("one colour becomes one class");
    return Insert(*color | kLabelColorFlag, target.first);
  }
  if (from == "*") {
    if (target.length() != 1) return InvalidArgumentError("* becomes one class, or ignore");
    if (map_.others.has_value()) return InvalidArgumentError("* stands in another line already");
    map_.others = target.first;
    return OkStatus();
  }
  const auto source = ParseRange(from);
  if (!source) {
    return InvalidArgumentError("'" + from +
                                "' is neither a number from 0 to 65535 nor a range "
                                "nor a colour #rrggbb");
  }
  if (target.length() != 1 && target.length() != source->length()) {
    return InvalidArgumentError("the ranges " + from + " and " + to + " differ in length");
  }
  const uint32_t step = target.length() > 1 ? 1 : 0;
  for (uint32_t i = 0; i < source->length(); ++i) {
    RETURN_IF_ERROR(Insert(source->first + i, target.first + step * i));
  }
  return OkStatus();
}

std::string FormatTarget(uint32_t id) {
  return id == ValueMap::kToIgnore ? "ignore" : std::to_string(id);
}

std::string FormatRange(uint32_t first, uint32_t last) {
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

using Iterator = std::map<uint32_t, uint32_t>::const_iterator;

// The end of the values from `begin` on that are consecutive and become one class, or, with
// `step` 1, consecutive ones.
Iterator RunEnd(const ValueMap& map, Iterator begin, uint32_t step) {
  Iterator end = begin;
  for (uint32_t i = 0; end != map.ids.end(); ++end, ++i) {
    if (end->first != begin->first + i || end->second != begin->second + step * i) break;
  }
  return end;
}

std::string FormatColorRule(uint32_t value, uint32_t id) {
  char color[16];
  std::snprintf(color, sizeof color, "#%06x", value & 0xFFFFFF);
  return color + (" " + FormatTarget(id));
}

}  // namespace

Result<ValueMap> ParseValueMap(std::string_view text, const std::vector<ClassInfo>& classes) {
  ASSIGN_OR_RETURN(const std::vector<TextLine> lines, SplitLines(text));
  MapParser parser(classes);
  for (const TextLine& line : lines) RETURN_IF_ERROR(parser.AddLine(line));
  ValueMap map = parser.Take();
  if (map.ids.empty() && !map.others) return InvalidArgumentError("the value map has no rule");
  if (map.others.has_value() && map.MapsColors() && map.ids.begin()->first >= kLabelColorFlag) {
    return InvalidArgumentError(
        "* stands for the other numbers, and the map has rules for colours alone; give each other "
        "colour a rule, or leave * out");
  }
  return map;
}

std::vector<std::string> ValueMapNames() {
  std::vector<std::string> names;
  for (const Profile& profile : kProfiles) names.emplace_back(profile.name);
  return names;
}

ValueMap NamedValueMap(std::string_view name) {
  for (const Profile& profile : kProfiles) {
    if (profile.name == name) return ParseValueMap(profile.rules, {}).value();
  }
  SHARDMILL_CHECK(false);
  return {};
}

Result<ValueMap> ReadValueMap(const std::string& name_or_path,
                              const std::vector<ClassInfo>& classes) {
  const std::vector<std::string> names = ValueMapNames();
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return NamedValueMap(name_or_path);
  }
  Result<std::string> text = ReadFile(name_or_path, kMaxMapBytes);
  if (!text.ok()) {
    std::string known;
    for (const std::string& name : names) known += ", " + name;
    return text.status().WithContext("--map takes a file or one of none" + known);
  }
  Result<ValueMap> map = ParseValueMap(*text, classes);
  if (!map.ok()) return map.status().WithContext(name_or_path);
  return map;
}

std::string FormatValueMap(const ValueMap& map) {
  std::string text;
  for (Iterator begin = map.ids.begin(); begin != map.ids.end();) {
    Iterator end = std::next(begin);
    std::string rule;
    if ((begin->first & kLabelColorFlag) != 0) {
      rule = FormatColorRule(begin->first, begin->second);
    } else {
      const Iterator same = RunEnd(map, begin, 0);
      const bool rising = std::next(begin) == same && begin->second != ValueMap::kToIgnore;
      end = rising ? RunEnd(map, begin, 1) : same;
      const uint32_t last = std::prev(end)->second;
      rule = FormatRange(begin->first, std::prev(end)->first) + " " +
             (rising ? FormatRange(begin->second, last) : FormatTarget(last));
    }
    text += (text.empty() ? "" : "; ") + rule;
    begin = end;
  }
  if (map.others.has_value()) text += (text.empty() ? "* " : "; * ") + FormatTarget(*map.others);
  return text;
}

bool MapsToIgnore(const ValueMap& map) {
  return map.others == ValueMap::kToIgnore ||
         std::any_of(map.ids.begin(), map.ids.end(),
                     [](const auto& rule) { return rule.second == ValueMap::kToIgnore; });
}

Status CheckValueMap(const ValueMap& map, const std::vector<ClassInfo>& classes) {
  auto check = [&](uint32_t id) {
    if (id == ValueMap::kToIgnore) return OkStatus();
    if (id < classes.size() && !IsUnusedClass(classes[id])) return OkStatus();
    if (id < classes.size()) {
      return InvalidArgumentError("the value map gives class id " + std::to_string(id) +
                                  ", which no class has in the class table");
    }
    return InvalidArgumentError("the value map gives class id " + std::to_string(id) +
                                ", but there are " + std::to_string(classes.size()) +
                                " classes, from 0 on; --classes FILE or --map FILE must fit the "
                                "other (--map none: no map)");
  };
  for (const auto& [value, id] : map.ids) RETURN_IF_ERROR(check(id));
  return map.others.has_value() ? check(*map.others) : OkStatus();
}

}  // namespace shardmill
