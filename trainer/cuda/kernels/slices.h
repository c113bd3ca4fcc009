// Pixels cut into slices, for what is done per channel.
//
// A slice holds every `slices`-th pixel, so that neighbouring slices read neighbouring memory. How
// many there are depends on the shape alone: sums over slices have the same bits on every device.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/group.h"

namespace shardmill {

// Enough indices to keep a large device busy, with and without sums to add up afterwards.
constexpr int64_t kEnoughToSum = 1 << 16;
constexpr int64_t kEnoughToWrite = 1 << 18;

// For passes with sums: slices of about `pixels_each` pixels, but no more than are enough.
inline int64_t SlicesFor(int64_t pixels, int64_t groups, int64_t pixels_each) {
  return Smaller(Larger(pixels / pixels_each, 1), Larger(kEnoughToSum / groups, 1));
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

  // Whether all groups of these tensors can be moved at once.
  template <typename... Element>
  SHARDMILL_HD bool MoveAtOnce(const Element*... memory) const {
    return channels % Group<T>::kWidth == 0 && AllAligned(memory...);
  }

  // Calls body(offset of the group's first element, AtOnce or OneByOne) for each pixel of the
  // slice.
  template <typename Body>
  SHARDMILL_HD void ForEachPixel(int64_t index, bool at_once, const Body& body) const {
    if (at_once) return Walk(index, body, AtOnce{});
    Walk(index, body, OneByOne{});
  }

 private:
  template <typename Body, typename How>
  SHARDMILL_HD void Walk(int64_t index, const Body& body, How how) const {
    const int64_t step = slices * channels, end = pixels * channels;
    const int64_t first = SliceOf(index) * channels + ChannelsOf(index).first;
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
    for (int64_t at = first; at < end; at += step) body(at, how);
  }
};

}  // namespace shardmill
