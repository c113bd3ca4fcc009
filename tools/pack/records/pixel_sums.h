// Sums over the channels of RGB pixels.
//
// Two versions with the same results: a plain one, which is the reference of the tests, and a
// vectorised one that picks the processor's instruction set when it first runs. Stateless; safe
// for concurrent use.
#pragma once

#include <cstdint>

namespace shardmill {

struct RgbSums {
  uint64_t sum[3] = {};
  uint64_t sum_sq[3] = {};  // of the squares
};

// Adds `pixels` interleaved pixels to `sums`.
void AddRgbSums(const uint8_t* rgb, uint64_t pixels, RgbSums* sums);
void AddRgbSumsPlainly(const uint8_t* rgb, uint64_t pixels, RgbSums* sums);

}  // namespace shardmill
