// The headers of BMP files, of OS/2 and of all versions of Windows.
//
// Stateless; safe for concurrent use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

enum class BmpPacking { kRows, kRunLength };

// Where a channel lies in the number that holds a pixel.
struct BmpChannel {
  int shift = 0;
  int bits = 0;  // 0: there is no such channel
};

struct BmpHeader {
  uint32_t height = 0, width = 0;
  bool from_top = false;  // the order of the rows; from the bottom is usual
  int bits = 0;           // of a pixel: 1, 2, 4 or 8 with a palette; 16, 24 or 32
  BmpPacking packing = BmpPacking::kRows;
  std::vector<uint32_t> palette;            // 0xRRGGBB
  std::array<BmpChannel, 4> channels = {};  // red, green, blue, alpha; without a palette
  size_t pixel_offset = 0;                  // in the file
};

// DataLoss when the header is damaged or cut, or of a kind that is not read.
Result<BmpHeader> ReadBmpHeader(std::string_view file);

}  // namespace shardmill
