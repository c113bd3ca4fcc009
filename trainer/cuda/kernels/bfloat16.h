// The 16-bit type of activations on GPUs: the upper half of an f32.
#pragma once

#include <cstdint>
#include <cstring>

#include "trainer/cuda/kernels/host_device.h"

namespace shardmill {

struct Bfloat16 {
  uint16_t bits;
};

SHARDMILL_HD float ToFloat(float value) { return value; }

SHARDMILL_HD float ToFloat(Bfloat16 value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float result;
  memcpy(&result, &bits, sizeof(result));
  return result;
}

SHARDMILL_HD void Assign(float value, float* destination) { *destination = value; }

// To the nearest, halves to the even one. A NaN stays one.
SHARDMILL_HD void Assign(float value, Bfloat16* destination) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  const uint32_t rounded = bits + 0x7FFF + ((bits >> 16) & 1);
  const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  destination->bits = static_cast<uint16_t>(is_nan ? (bits >> 16) | 0x40 : rounded >> 16);
}

template <typename T>
SHARDMILL_HD T FromFloat(float value) {
  T result;
  Assign(value, &result);
  return result;
}

// The value as it will be read back from memory.
template <typename T>
SHARDMILL_HD float Rounded(float value) {
  return ToFloat(FromFloat<T>(value));
}

}  // namespace shardmill
