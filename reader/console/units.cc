#include "reader/console/units.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

namespace shardmill {
namespace {

struct Unit {
  std::string_view name;
  uint64_t bytes;
};

constexpr Unit kUnits[] = {
    {"TiB", uint64_t{1} << 40},
    {"GiB", uint64_t{1} << 30},
    {"MiB", uint64_t{1} << 20},
    {"KiB", uint64_t{1} << 10},
    {"TB", 1000000000000},
    {"GB", 1000000000},
    {"MB", 1000000},
    {"KB", 1000},
    {"kB", 1000},
    {"B", 1},
};

}  // namespace

Result<uint64_t> ParseUnsigned(std::string_view text, uint64_t largest) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  if (!whole || value > largest) {
    return InvalidArgumentError("'" + std::string(text) + "' is not a whole number from 0 to " +
                                std::to_string(largest));
  }
  return value;
}

Result<ImageSize> ParseImageSize(std::string_view text) {
  size_t cross = text.find('x');
  Status error =
      InvalidArgumentError("'" + std::string(text) +
                           "' is not a size: write HEIGHTxWIDTH in pixels, for example 352x480");
  if (cross == std::string_view::npos) return error;
  Result<uint64_t> height = ParseUnsigned(text.substr(0, cross), kMaxImageSide);
  Result<uint64_t> width = ParseUnsigned(text.substr(cross + 1), kMaxImageSide);
  if (!height.ok() || !width.ok() || *height == 0 || *width == 0) return error;
  return ImageSize{static_cast<uint32_t>(*height), static_cast<uint32_t>(*width)};
}

std::string FormatImageSize(ImageSize size) {
  return std::to_string(size.height) + "x" + std::to_string(size.width);
}

std::string DescribeImageSize(ImageSize size) {
  return std::to_string(size.height) + " high × " + std::to_string(size.width) + " wide";
}

Result<uint64_t> ParseBytes(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  std::string_view name = text.substr(digits);
  uint64_t factor = name.empty() ? 1 : 0;
  for (const Unit& unit : kUnits) {
    if (unit.name == name) factor = unit.bytes;
  }
  Result<uint64_t> number = ParseUnsigned(text.substr(0, digits), UINT64_MAX);
  uint64_t bytes = 0;
  if (factor == 0 || !number.ok() || __builtin_mul_overflow(*number, factor, &bytes)) {
    return InvalidArgumentError("'" + std::string(text) +
                                "' is not a number of bytes: write for example 512MiB or 2GiB");
  }
  return bytes;
}

std::string FormatBytes(uint64_t bytes) {
  for (const Unit& unit : kUnits) {
    bool binary = unit.name.find('i') != std::string_view::npos;
    if (!binary || bytes < unit.bytes) continue;
    char text[32];
    double value = static_cast<double>(bytes) / static_cast<double>(unit.bytes);
    std::snprintf(text, sizeof text, "%.*f %s", value < 100 ? 1 : 0, value,
                  std::string(unit.name).c_str());
    return text;
  }
  return std::to_string(bytes) + " B";
}

std::string FormatBytesFlag(uint64_t bytes) {
  for (const Unit& unit : kUnits) {
    bool binary = unit.name.find('i') != std::string_view::npos;
    if (binary && bytes >= unit.bytes && bytes % unit.bytes == 0) {
      return std::to_string(bytes / unit.bytes) + std::string(unit.name);
    }
  }
  return std::to_string(bytes);
}

std::string FormatSeconds(double seconds) {
  char text[48];
  if (seconds < 10) {
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  } else if (seconds < 60) {
    std::snprintf(text, sizeof text, "%.0f s", seconds);
  } else if (seconds < 3600) {
    auto whole = static_cast<long long>(std::lround(seconds));
    std::snprintf(text, sizeof text, "%lld min %02lld s", whole / 60, whole % 60);
  } else {
    auto minutes = static_cast<long long>(std::min(seconds / 60, 1e15));
    std::snprintf(text, sizeof text, "%lld h %02lld min", minutes / 60, minutes % 60);
  }
  return text;
}

std::string FormatCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace shardmill
