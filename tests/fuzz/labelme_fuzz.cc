// A labelme file: its shapes and the image that it may hold.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/fuzz/draw_label.h"

using namespace shardmill;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> exact(data, data + size);  // its end is guarded by the sanitizer
  const std::string_view json(exact.data(), exact.size());
  DrawLabel(ReadLabelmeLabel(json, FuzzedNames(), kFuzzedPixels, [] {
    return Result<ImageSize>(ImageSize{9, 9});
  }));
  EmbeddedImage(json).ok();
  return 0;
}
