#include "tools/pack/labels/class_label.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/labels/class_table.h"

namespace shardmill {
namespace {

std::string WithoutBlanks(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t'; }),
             text.end());
  return text;
}

}  // namespace

std::optional<int64_t> ParseWholeNumber(std::string_view text) {
  const bool negative = text.substr(0, 1) == "-";
  if (negative) text.remove_prefix(1);
  const size_t point = text.find('.');
  const std::string_view digits = text.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos ||
      fraction.find_first_not_of('0') != std::string_view::npos) {
    return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc()) value = std::numeric_limits<int64_t>::max();
  return negative ? -value : value;
}

bool IsMissingLabel(std::string_view text) {
  const std::string lower = LowerCase(TrimBlanks(text));
  return lower.empty() || lower == "nan" || lower == "null" || lower == "<na>";
}

Result<std::optional<std::set<uint32_t>>> IdsOfLabels(const std::set<std::string>& labels) {
  using Ids = std::optional<std::set<uint32_t>>;
  std::set<uint32_t> ids;
  const std::string* wrong = nullptr;
  for (const std::string& label : labels) {
    const std::optional<int64_t> number = ParseWholeNumber(label);
    if (!number.has_value()) return Ids();
    const bool usable = *number >= 0 && *number < int64_t{kMaxClasses};
    if (usable) ids.insert(static_cast<uint32_t>(*number));
    if (!usable && wrong == nullptr) wrong = &label;
  }
  if (wrong == nullptr) return Ids(std::move(ids));
  return InvalidArgumentError("all labels are numbers, which are class ids, and '" + *wrong +
                              "' is none (ids go from 0 to " + std::to_string(kMaxClasses - 1) +
                              "); number the classes from 0 on, leave out what has no class, or "
                              "give the labels as names with --classes FILE");
}

constexpr size_t kSimilarNamed = 20;

std::vector<std::string> NoteSimilarNames(const std::vector<ClassInfo>& classes) {
  std::vector<std::string> notes;
  std::map<std::string, std::string> spellings;
  size_t similar = 0;
  for (const ClassInfo& info : classes) {
    const auto [other, is_new] = spellings.emplace(WithoutBlanks(LowerCase(info.name)), info.name);
    if (is_new) continue;
    if (++similar > kSimilarNamed) continue;
    const bool by_case = LowerCase(info.name) == LowerCase(other->second);
    notes.push_back("classes '" + other->second + "' and '" + info.name + "' differ in " +
                    (by_case ? "upper and lower case alone" : "case and blanks alone"));
  }
  if (similar > kSimilarNamed) {
    notes.push_back("… and " + std::to_string(similar - kSimilarNamed) +
                    " more classes differ from others in case or blanks alone");
  }
  return notes;
}

}  // namespace shardmill
