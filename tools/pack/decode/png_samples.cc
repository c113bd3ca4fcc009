#include "tools/pack/decode/png_samples.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace shardmill {
namespace {

bool IsLittleEndian() {
  const uint16_t one = 1;
  uint8_t first;
  std::memcpy(&first, &one, 1);
  return first == 1;
}

}  // namespace

void UnpackPngBits(const uint8_t* packed, int64_t width, int bit_depth, uint8_t* samples) {
  const int per_byte = 8 / bit_depth;
  const int mask = (1 << bit_depth) - 1;
  for (int64_t x = 0; x < width; ++x) {
    const int shift = 8 - bit_depth * static_cast<int>(x % per_byte + 1);
    samples[x] = static_cast<uint8_t>(packed[x / per_byte] >> shift & mask);
  }
}

void SwapPngSamples(uint8_t* samples, uint64_t count) {
  if (!IsLittleEndian()) return;
  constexpr uint64_t kLowBytes = 0x00ff00ff00ff00ff;
  uint64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    uint64_t four;
    std::memcpy(&four, samples + 2 * i, 8);
    four = (four & kLowBytes) << 8 | (four >> 8 & kLowBytes);
    std::memcpy(samples + 2 * i, &four, 8);
  }
  for (; i < count; ++i) std::swap(samples[2 * i], samples[2 * i + 1]);
}

Status ExpandPngPalette(const std::vector<PngPaletteEntry>& palette, const uint8_t* indexes,
                        int64_t count, uint8_t* rgb) {
  const uint8_t highest = count > 0 ? *std::max_element(indexes, indexes + count) : 0;
  if (count > 0 && highest >= palette.size()) {
    return DataLossError("palette index " + std::to_string(highest) +
                         " is used, but the palette of the PNG has only " +
                         std::to_string(palette.size()) + " colours");
  }
  for (int64_t i = 0; i < count; ++i) {
    const PngPaletteEntry& color = palette[indexes[i]];
    rgb[3 * i] = color.red;
    rgb[3 * i + 1] = color.green;
    rgb[3 * i + 2] = color.blue;
  }
  return OkStatus();
}

}  // namespace shardmill
