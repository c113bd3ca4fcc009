// What libpng makes of a PNG file: the oracle of the decoder's tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardmill {

struct ReferencePng {
  bool ok = false;
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;
  int bit_depth = 0;
  // Dense rows of samples as stored: 1 byte each up to 8 bits, 2 in this machine's order for 16.
  std::vector<uint8_t> samples;
};

ReferencePng ReadWithLibpng(const std::string& file);

}  // namespace shardmill
