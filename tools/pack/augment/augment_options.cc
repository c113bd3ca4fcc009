#include "tools/pack/augment/augment_options.h"

#include <algorithm>

namespace shardmill {
namespace {

// In thousandths. Names without a strength have equal limits.
struct Limits {
  std::string_view name;
  uint32_t usual, least, most;

  bool HasStrength() const { return least != most; }
};

constexpr Limits kLimits[kAugmentCount] = {
    {"flip", 1000, 1000, 1000},  {"flip-vertical", 1000, 1000, 1000}, {"crop", 1000, 1000, 1000},
    {"scale", 1250, 1001, 2000}, {"rotate", 10000, 1, 180000},        {"brightness", 150, 1, 1000},
    {"contrast", 200, 1, 1000},  {"saturation", 200, 1, 1000},        {"hue", 10000, 1, 180000},
    {"noise", 5000, 1, 64000},   {"blur", 1000, 1000, 8000},          {"cutout", 300, 1, 1000},
};

std::string Names() {
  std::string names;
  for (const Limits& limits : kLimits)
    names += (names.empty() ? "" : ", ") + std::string(limits.name);
  return names;
}

Status ParseOne(std::string_view item, AugmentOptions* options) {
  const size_t equals = std::min(item.find('='), item.size());
  const auto* limits =
      std::find_if(std::begin(kLimits), std::end(kLimits),
                   [&](const Limits& each) { return each.name == item.substr(0, equals); });
  if (limits == std::end(kLimits)) {
    return InvalidArgumentError("there is no '" + std::string(item.substr(0, equals)) +
                                "'; there are " + Names());
  }
  uint32_t strength = limits->usual;
  if (equals < item.size()) {
    ASSIGN_OR_RETURN(strength, ParseThousandths(item.substr(equals + 1)));
    if (!limits->HasStrength()) {
      return InvalidArgumentError(std::string(limits->name) + " takes no strength");
    }
    if (strength < limits->least || strength > limits->most) {
      return InvalidArgumentError(std::string(item) + ": give " + FormatThousandths(limits->least) +
                                  " to " + FormatThousandths(limits->most));
    }
  }
  uint32_t& slot = options->strength[static_cast<size_t>(limits - std::begin(kLimits))];
  if (slot > 0) return InvalidArgumentError(std::string(limits->name) + " stands twice");
  slot = strength;
  return OkStatus();
}

}  // namespace

std::string FormatThousandths(uint32_t value) {
  std::string text = std::to_string(value / 1000);
  if (value % 1000 == 0) return text;
  std::string fraction = std::to_string(1000 + value % 1000).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return text + "." + fraction;
}

Result<uint32_t> ParseThousandths(std::string_view text) {
  uint64_t value = 0;
  size_t digits = 0, behind = 0;
  bool point = false;
  for (char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9' || ++digits > 9 || (point && ++behind > 3)) digits = 100;
    if (digits == 100) break;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  if (digits == 0 || digits == 100) {
    return InvalidArgumentError("'" + std::string(text) +
                                "' is no number with at most three decimals");
  }
  for (; behind < 3; ++behind) value *= 10;
  return static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX));
}

Result<AugmentOptions> ParseAugments(std::string_view text) {
  AugmentOptions options;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    RETURN_IF_ERROR(ParseOne(text.substr(0, comma), &options));
    if (comma == text.size()) return options;
    text.remove_prefix(comma + 1);
  }
}

std::string FormatAugments(const AugmentOptions& options) {
  std::string text;
  for (size_t i = 0; i < kAugmentCount; ++i) {
    if (options.strength[i] == 0) continue;
    text += (text.empty() ? "" : ",") + std::string(kLimits[i].name);
    if (kLimits[i].HasStrength()) text += "=" + FormatThousandths(options.strength[i]);
  }
  return text;
}

std::string_view UsualAugments() {
  return "flip,crop,scale,rotate,brightness,contrast,saturation,hue";
}

std::string DescribeAugments() {
  std::string text;
  for (const Limits& limits : kLimits) {
    text += (text.empty() ? "" : ", ") + std::string(limits.name);
    if (limits.HasStrength()) text += "=" + FormatThousandths(limits.usual);
  }
  return text;
}

}  // namespace shardmill
