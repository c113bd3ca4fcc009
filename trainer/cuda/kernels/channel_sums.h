// Other sums and vectors per channel: PReLU, the bias of convolutions.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/elementwise.h"
#include "trainer/cuda/kernels/fold.h"
#include "trainer/cuda/kernels/slices.h"

namespace shardmill {

template <typename T>
struct PreluForwardKernel {
  ChannelSlices<T> slices;
  const T* x;
  const float* slopes;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> channels = slices.ChannelsOf(index);
    const Group<T> slope = LoadFloats<T>(slopes + channels.first, channels.count);
    slices.ForEachPixel(index, slices.MoveAtOnce(x, y), [&](int64_t at, auto how) {
      Group<T> group = LoadGroup(x + at, channels.count, how);
      for (int i = 0; i < Group<T>::kWidth; ++i) group[i] *= group[i] > 0 ? 1.0f : slope[i];
      StoreGroup(group, channels.count, y + at, how);
    });
  }
};

// Writes dx unless it is null, and per slice the sums for the slopes.
template <typename T>
struct PreluBackwardKernel {
  ChannelSlices<T> slices;
  const T* x;
  const float* slopes;
  const T* dy;
  T* dx;
  SliceSums<1>* sums;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> channels = slices.ChannelsOf(index);
    const Group<T> slope = LoadFloats<T>(slopes + channels.first, channels.count);
    Group<T> totals = {};
    slices.ForEachPixel(index, slices.MoveAtOnce(x, dy, dx), [&](int64_t at, auto how) {
      const Group<T> values = LoadGroup(x + at, channels.count, how);
      Group<T> gradients = LoadGroup(dy + at, channels.count, how);
      for (int i = 0; i < Group<T>::kWidth; ++i) {
        const bool positive = values[i] > 0;
        totals[i] += positive ? 0.0f : gradients[i] * values[i];
        gradients[i] *= positive ? 1.0f : slope[i];
      }
      if (dx != nullptr) StoreGroup(gradients, channels.count, dx + at, how);
    });
    SliceSums<1>* to = sums + slices.SliceOf(index) * slices.channels + channels.first;
    ForEachIn<T>(channels.count, [&](int i) { to[i] = {{totals[i]}}; });
  }
};

// Per slice and channel the sum of x.
template <typename T>
struct ChannelSumsKernel {
  ChannelSlices<T> slices;
  const T* x;
  SliceSums<1>* sums;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> channels = slices.ChannelsOf(index);
    Group<T> totals = {};
    slices.ForEachPixel(index, slices.MoveAtOnce(x), [&](int64_t at, auto how) {
      const Group<T> values = LoadGroup(x + at, channels.count, how);
      for (int i = 0; i < Group<T>::kWidth; ++i) totals[i] += values[i];
    });
    SliceSums<1>* to = sums + slices.SliceOf(index) * slices.channels + channels.first;
    ForEachIn<T>(channels.count, [&](int i) { to[i] = {{totals[i]}}; });
  }
};

struct FinishVector {
  float* vector;

  SHARDMILL_HD void operator()(int64_t channel, const Sums<1>& sums) const {
    vector[channel] = static_cast<float>(sums.values[0]);
  }
};

// y = activation(y + bias), per channel.
template <typename T>
struct AddBiasKernel {
  ChannelSlices<T> slices;
  ActivationGate gate;
  const float* bias;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> channels = slices.ChannelsOf(index);
    const Group<T> added = LoadFloats<T>(bias + channels.first, channels.count);
    slices.ForEachPixel(index, slices.MoveAtOnce(y), [&](int64_t at, auto how) {
      Group<T> group = LoadGroup(y + at, channels.count, how);
      for (int i = 0; i < Group<T>::kWidth; ++i) group[i] = gate.Held(group[i] + added[i]);
      StoreGroup(group, channels.count, y + at, how);
    });
  }
};

}  // namespace shardmill
