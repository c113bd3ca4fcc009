// Vector code over NHWC tensors whose channels are fewer than the lanes of a vector, or no
// multiple of them.
//
// A tensor is read as a flat array. The channel of element i is i % channels; that pattern repeats
// after a period, a multiple of both the channels and every vector length. Per-channel numbers
// are laid out once for a whole period; then all arithmetic is element by element.
#pragma once

#include <cstdint>
#include <numeric>

namespace shardmill {

constexpr int64_t kMaxLanes = 16;  // f32 in the widest vector
// At least this long, so that sums have enough independent parts.
constexpr int64_t kShortestPeriod = 128;

inline int64_t PeriodOf(int64_t channels) {
  const int64_t unit = std::lcm(channels, kMaxLanes);
  return (kShortestPeriod + unit - 1) / unit * unit;
}

// periodic[i] = vector[i % channels] over one period.
template <typename Value>
void RepeatOverPeriod(int64_t channels, const Value& value_of_channel, float* periodic) {
  const int64_t period = PeriodOf(channels);
  for (int64_t c = 0; c < channels; ++c) periodic[c] = static_cast<float>(value_of_channel(c));
  for (int64_t i = channels; i < period; ++i) periodic[i] = periodic[i - channels];
}

// Adds up the parts of a periodic sum that belong to one channel.
inline double FoldPeriod(const float* periodic, int64_t channels, int64_t channel) {
  const int64_t period = PeriodOf(channels);
  double sum = 0;
  for (int64_t i = channel; i < period; i += channels) sum += periodic[i];
  return sum;
}

}  // namespace shardmill
