// Sizes, byte counts and durations as the command line reads and prints them.
//
// Free functions without state; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reader/base/status.h"

namespace shardmill {

// Height first, everywhere: on the command line, in messages and in tensors.
struct ImageSize {
  uint32_t height = 0;
  uint32_t width = 0;

  bool operator==(const ImageSize& other) const {
    return height == other.height && width == other.width;
  }
  bool operator!=(const ImageSize& other) const { return !(*this == other); }
  uint64_t pixels() const { return uint64_t{height} * width; }
};

constexpr uint32_t kMaxImageSide = 1u << 20;

// "352x480": height 352, width 480; each 1 … kMaxImageSide.
Result<ImageSize> ParseImageSize(std::string_view text);
std::string FormatImageSize(ImageSize size);    // "352x480"
std::string DescribeImageSize(ImageSize size);  // "352 high × 480 wide"

// "512MiB", "2GiB", "64KiB", "1000000", "10MB": binary units with an i, decimal ones without.
Result<uint64_t> ParseBytes(std::string_view text);
std::string FormatBytes(uint64_t bytes);      // "1.5 MiB", for people
std::string FormatBytesFlag(uint64_t bytes);  // "512MiB", exact: ParseBytes gives it back

// A whole number in decimal digits without sign, at most `largest`.
Result<uint64_t> ParseUnsigned(std::string_view text, uint64_t largest);

std::string FormatSeconds(double seconds);  // "0.42 s", "12 s", "3 min 05 s", "2 h 10 min"
std::string FormatCount(uint64_t count);    // "1,234,567"

}  // namespace shardmill
