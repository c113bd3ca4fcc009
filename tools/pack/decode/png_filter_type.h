// The filters of a PNG row, as the first byte of the row names them.
#pragma once

#include <cstdint>

namespace shardmill {

enum PngFilterType : uint8_t {
  kPngNone = 0,
  kPngSub = 1,      // the left neighbour was subtracted
  kPngUp = 2,       // the upper one
  kPngAverage = 3,  // the mean of both, rounded down
  kPngPaeth = 4,    // that one of left, upper and upper-left which is nearest to l + u - ul
};
inline constexpr int kPngFilterTypes = 5;

}  // namespace shardmill
