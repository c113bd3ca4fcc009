// The packer's JPEG decoder over any file: a window of it and the whole are both sound or both
// damaged, and hold the same pixels. The first bytes of the input choose window and scale.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_input.h"
#include "tools/pack/decode/jpeg_fast.h"

using namespace shardmill;  // NOLINT: a program of a few functions

namespace {

// The window's pixels; empty when the file is damaged.
std::vector<uint8_t> Read(JpegFastDecoder* decoder, const std::string& file,
                          const JpegOptions& options, const JpegWindow& window) {
  SHARDMILL_CHECK(decoder->Open(file, options).ok());
  std::vector<uint8_t> pixels(window.height * window.width * decoder->header().channels);
  if (!decoder->ReadPixels(window, pixels.data()).ok()) pixels.clear();
  return pixels;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzInput input(data, size);
  JpegOptions options;
  options.max_pixels = 1 << 16;
  options.scale_denominator = 1 << input.Take<uint8_t>() % 4;
  JpegWindow window;
  const uint32_t top = input.Take<uint16_t>(), left = input.Take<uint16_t>();
  const uint32_t height = input.Take<uint16_t>(), width = input.Take<uint16_t>();
  const std::string file = input.TakeRest();

  static JpegFastDecoder decoder;
  if (!decoder.Open(file, options).ok()) return 0;
  const JpegHeader header = decoder.header();
  window.top = top % header.output_height;
  window.left = left % header.output_width;
  window.height = 1 + height % (header.output_height - window.top);
  window.width = 1 + width % (header.output_width - window.left);
  const std::vector<uint8_t> part = Read(&decoder, file, options, window);
  const std::vector<uint8_t> whole =
      Read(&decoder, file, options, {0, 0, header.output_height, header.output_width});
  SHARDMILL_CHECK(part.empty() == whole.empty());
  if (part.empty()) return 0;
  const int64_t row_bytes = window.width * header.channels;
  for (int64_t y = 0; y < window.height; ++y) {
    const auto row =
        whole.begin() + ((window.top + y) * header.output_width + window.left) * header.channels;
    SHARDMILL_CHECK(std::equal(row, row + row_bytes, part.begin() + y * row_bytes));
  }
  return 0;
}
