// A GIF file: as many indices as its header promises, or damage.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/pack/decode/gif_read.h"

using namespace shardmill;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kMaxPixels = 1 << 16;
  const std::vector<char> exact(data, data + size);  // its end is guarded by the sanitizer
  const std::string_view file(exact.data(), exact.size());
  const Result<GifHeader> header = ReadGifHeader(file);
  if (!header.ok()) return 0;
  const uint64_t pixels = uint64_t{header->height} * header->width;
  if (pixels > kMaxPixels) return 0;
  std::vector<uint8_t> indices;
  const Status status = ReadGifIndices(file, *header, &indices);
  SHARDMILL_CHECK(!status.ok() || indices.size() == pixels);
  return 0;
}
