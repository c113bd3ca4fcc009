// Concatenation along the channels, part by part.
#pragma once

#include "trainer/cuda/kernels/place.h"

namespace shardmill {

// One index: one group of the part's channels of one pixel of the whole.
template <typename T>
struct ConcatForwardKernel {
  Shape part;
  Places<T> places;  // of the whole, with the channels of the part
  Shape whole;
  int64_t first_channel;
  const T* x;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = places.At(index);
    Group<T> group = {};
    if (place.y < part.h && place.x < part.w) {
      const int64_t from = PixelAt(part, place.n, place.y, place.x) + place.channels.first;
      group = LoadGroup(x + from, place.channels.count);
    }
    const int64_t to = PixelAt(whole, place.n, place.y, place.x) + first_channel;
    StoreGroup(group, place.channels.count, y + to + place.channels.first);
  }
};

// One index: one group of one pixel of the part.
template <typename T>
struct ConcatBackwardKernel {
  Places<T> part;
  Shape whole;
  int64_t first_channel;
  const T* dy;
  GradientMode mode;
  T* dx;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = part.At(index);
    Group<T> group = {};
    if (place.y < whole.h && place.x < whole.w) {
      const int64_t from = PixelAt(whole, place.n, place.y, place.x) + first_channel;
      group = LoadGroup(dy + from + place.channels.first, place.channels.count);
    }
    StoreGradients(group, mode, place.channels.count, dx + place.offset);
  }
};

}  // namespace shardmill
