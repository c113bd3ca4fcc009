// From the index of a functor to a place in an NHWC tensor.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/group.h"
#include "trainer/tensor.h"

namespace shardmill {

SHARDMILL_HD int64_t PixelAt(const Shape& shape, int64_t n, int64_t y, int64_t x) {
  return ((n * shape.h + y) * shape.w + x) * shape.c;
}

struct Interval {
  int64_t begin, end;
};

// One group of channels of one pixel. Neighbouring indices are neighbours in memory.
template <typename T>
struct Place {
  SHARDMILL_HD Place(int64_t index, const Shape& shape)
      : Place(index, shape, GroupsOf<T>(shape.c)) {}

  int64_t n, y, x;
  Span<T> channels;
  int64_t offset;  // of the first element

 private:
  SHARDMILL_HD Place(int64_t index, const Shape& shape, int64_t groups)
      : n(index / groups / shape.w / shape.h),
        y(index / groups / shape.w % shape.h),
        x(index / groups % shape.w),
        channels(index % groups, shape.c),
        offset(index / groups * shape.c + channels.first) {}
};

// How many places a tensor has.
template <typename T>
SHARDMILL_HD int64_t PlacesOf(const Shape& shape) {
  return shape.Pixels() * GroupsOf<T>(shape.c);
}

}  // namespace shardmill
