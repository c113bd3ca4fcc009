// Sine and cosine in whole numbers, so that they are the same on every machine: the C library's
// differ in their last bits.
#pragma once

#include <cstdint>

namespace shardmill {

// In units of 2^-30; the error is below 2^-26.
struct SineCosine {
  int64_t sine = 0, cosine = 0;
};
constexpr int kAngleBits = 30;

SineCosine SineCosineOf(int32_t millidegrees);

}  // namespace shardmill
