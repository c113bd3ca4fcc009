// A BMP file: as many samples as its header promises, and indices within its palette, or damage.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/pack/decode/bmp_image.h"

using namespace shardmill;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kMaxPixels = 1 << 16;
  const std::vector<char> exact(data, data + size);  // its end is guarded by the sanitizer
  const std::string_view file(exact.data(), exact.size());
  const Result<BmpHeader> header = ReadBmpHeader(file);
  if (!header.ok()) return 0;
  const uint64_t pixels = uint64_t{header->height} * header->width;
  if (pixels > kMaxPixels) return 0;
  SourceImage image;
  if (!DecodeBmp(file, *header, &image).ok()) return 0;
  SHARDMILL_CHECK(image.samples.size() == pixels * static_cast<uint64_t>(ChannelsOf(image.layout)) *
                                              static_cast<uint64_t>(image.sample_bytes));
  for (uint8_t index : image.samples) {
    SHARDMILL_CHECK(image.layout != PixelLayout::kPalette || index < image.palette.size());
  }
  return 0;
}
