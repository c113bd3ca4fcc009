// Reading and writing elements whose type is known at run time only.
#pragma once

#include <cstdint>

#include "trainer/graph/tensor.h"
#include "trainer/ops/op_shapes.h"

namespace shardmill {

// Calls body(T{}) with T = float or double.
template <typename Body>
void WithElementType(ElementType type, const Body& body) {
  if (type == ElementType::kF32) {
    body(float{});
  } else {
    body(double{});
  }
}

template <typename T>
const T* Elements(const void* memory) {
  return static_cast<const T*>(memory);
}

template <typename T>
T* Elements(void* memory) {
  return static_cast<T*>(memory);
}

template <typename T>
void StoreGradient(GradientMode mode, double value, T* destination) {
  *destination = static_cast<T>(mode == GradientMode::kAdd ? *destination + value : value);
}

// Position of an element of a dense NHWC tensor.
inline int64_t At(const Shape& shape, int64_t n, int64_t y, int64_t x, int64_t c) {
  return ((n * shape.h + y) * shape.w + x) * shape.c + c;
}

}  // namespace shardmill
