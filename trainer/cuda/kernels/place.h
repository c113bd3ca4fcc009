// From the index of a functor to a place in an NHWC tensor.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/divisor.h"
#include "trainer/cuda/kernels/group.h"
#include "trainer/graph/tensor.h"

namespace shardmill {

SHARDMILL_HD int64_t PixelAt(const Shape& shape, int64_t n, int64_t y, int64_t x) {
  return ((n * shape.h + y) * shape.w + x) * shape.c;
}

struct Interval {
  int64_t begin, end;
};

// One group of channels of one pixel.
template <typename T>
struct Place {
  int64_t n, y, x;
  Span<T> channels;
  int64_t offset;  // of the first element
};

// The groups of channels of all pixels of a tensor, one per index. Neighbouring indices are
// neighbours in memory.
template <typename T>
class Places {
 public:
  explicit Places(const Shape& shape)
      : shape_(shape), groups_(GroupsOf<T>(shape.c)), width_(shape.w), height_(shape.h) {}

  int64_t Count() const { return shape_.Pixels() * groups_.divisor(); }

  SHARDMILL_HD Place<T> At(int64_t index) const {
    const int64_t pixel = groups_.Divide(index);
    const int64_t line = width_.Divide(pixel), n = height_.Divide(line);
    const Span<T> channels(index - pixel * groups_.divisor(), shape_.c);
    return {n, line - n * shape_.h, pixel - line * shape_.w, channels,
            pixel * shape_.c + channels.first};
  }

  SHARDMILL_HD const Shape& shape() const { return shape_; }

 private:
  Shape shape_;
  Divisor groups_, width_, height_;
};

}  // namespace shardmill
