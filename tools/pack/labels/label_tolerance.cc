#include "tools/pack/labels/label_tolerance.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tools/pack/labels/color_table.h"
#include "tools/pack/labels/label_decode.h"
#include "tools/pack/labels/unused_class.h"

namespace shardmill {
namespace {

// A value of label files and the class that it means.
using Meaning = std::pair<uint32_t, uint32_t>;

Status TooMuch(uint32_t tolerance, uint32_t a, uint32_t b) {
  return InvalidArgumentError("--label-tolerance " + std::to_string(tolerance) +
                              " is too much: a value between " + FormatLabelValue(a) + " and " +
                              FormatLabelValue(b) +
                              " could be either; the tolerance must be less than half of the "
                              "difference of any two classes");
}

// Numbers that have a meaning, sorted; empty when each number has one.
std::vector<Meaning> KnownNumbers(const std::vector<ClassInfo>& classes, const LabelRules& rules) {
  std::vector<Meaning> numbers;
  if (rules.map.has_value() && rules.map->others.has_value()) return numbers;
  if (rules.map.has_value() && rules.map->MapsNumbers()) {
    for (const auto& [value, id] : rules.map->ids) {
      if (value < kLabelColorFlag) numbers.emplace_back(value, id);
    }
    return numbers;
  }
  for (const ClassInfo& info : classes) {
    if (!IsUnusedClass(info)) numbers.emplace_back(info.id, info.id);
  }
  if (rules.ignore.has_value()) numbers.emplace_back(*rules.ignore, ValueMap::kToIgnore);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<Meaning> KnownColors(const std::vector<ClassInfo>& classes, const LabelRules& rules) {
  std::vector<Meaning> colors;
  for (const ClassInfo& info : classes) {
    if (info.color.has_value()) colors.emplace_back(*info.color, info.id);
  }
  if (!rules.map.has_value()) return colors;
  for (const auto& [value, id] : rules.map->ids) {
    if (value >= kLabelColorFlag) colors.emplace_back(value & ~kLabelColorFlag, id);
  }
  return colors;
}

}  // namespace

Status CheckNumberTolerance(const std::vector<ClassInfo>& classes, const LabelRules& rules) {
  if (!rules.tolerance.has_value()) return OkStatus();
  const std::vector<Meaning> numbers = KnownNumbers(classes, rules);
  for (size_t i = 1; i < numbers.size(); ++i) {
    const Meaning &a = numbers[i - 1], &b = numbers[i];
    if (a.second == b.second || b.first - a.first > 2 * *rules.tolerance) continue;
    return TooMuch(*rules.tolerance, a.first, b.first);
  }
  return OkStatus();
}

Status CheckColorTolerance(const std::vector<ClassInfo>& classes, const LabelRules& rules) {
  if (!rules.tolerance.has_value()) return OkStatus();
  const std::vector<Meaning> colors = KnownColors(classes, rules);
  for (size_t i = 0; i < colors.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const Meaning &a = colors[k], &b = colors[i];
      if (a.first == b.first || a.second == b.second ||
          ColorDistance(a.first, b.first) > 2 * *rules.tolerance) {
        continue;
      }
      return TooMuch(*rules.tolerance, a.first | kLabelColorFlag, b.first | kLabelColorFlag);
    }
  }
  return OkStatus();
}

Status CheckTolerance(const std::vector<ClassInfo>& classes, const LabelRules& rules) {
  return rules.colors_in_files ? CheckColorTolerance(classes, rules)
                               : CheckNumberTolerance(classes, rules);
}

}  // namespace shardmill
