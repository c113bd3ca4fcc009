// Pixels cut into slices, for what is done per channel.
//
// A slice holds every `slices`-th pixel, so that neighbouring slices read neighbouring memory. How
// many there are depends on the shape alone: sums over slices have the same bits on every device.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/group.h"

namespace shardmill {

// Slices of about `pixels_each` pixels, but no more than it takes to keep a large device busy.
inline int64_t SlicesFor(int64_t pixels, int64_t groups, int64_t pixels_each) {
  constexpr int64_t kEnoughThreads = 1 << 16;
  const int64_t enough = Larger(kEnoughThreads / groups, 1);
  return Smaller(Larger(pixels / pixels_each, 1), enough);
}

// One index: one group of channels of one slice.
template <typename T>
struct ChannelSlices {
  int64_t pixels, channels, slices;

  SHARDMILL_HD int64_t Calls() const { return slices * GroupsOf<T>(channels); }
  SHARDMILL_HD int64_t SliceOf(int64_t index) const { return index / GroupsOf<T>(channels); }
  SHARDMILL_HD Span<T> ChannelsOf(int64_t index) const {
    return Span<T>(index % GroupsOf<T>(channels), channels);
  }

  // Calls body(offset of the group's first element) for each pixel of the slice.
  template <typename Body>
  SHARDMILL_HD void ForEachPixel(int64_t index, const Body& body) const {
    const int64_t step = slices * channels, end = pixels * channels;
    const int64_t first = SliceOf(index) * channels + ChannelsOf(index).first;
    for (int64_t at = first; at < end; at += step) body(at);
  }
};

}  // namespace shardmill
