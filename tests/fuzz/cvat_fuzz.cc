// An <image> element of CVAT.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/fuzz/draw_label.h"

using namespace shardmill;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> exact(data, data + size);  // its end is guarded by the sanitizer
  DrawLabel(
      ReadCvatLabel(std::string_view(exact.data(), exact.size()), FuzzedNames(), kFuzzedPixels));
  return 0;
}
