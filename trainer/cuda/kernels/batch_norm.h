// Batch norm with its activation. The statistics read x once; backward reads x and dy twice and
// computes y again where the activation needs it, which is cheaper than reading it.
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/cuda/kernels/elementwise.h"
#include "trainer/cuda/kernels/fold.h"
#include "trainer/cuda/kernels/slices.h"

namespace shardmill {

// Mean and sum of squared deviations of a slice. The mean is counted from the first pixel of the
// tensor, so that f32 holds it well.
struct SliceMoments {
  float count, mean, squares;
};

struct Moments {
  double count = 0, mean = 0, squares = 0;

  template <typename Other>
  SHARDMILL_HD void Add(const Other& other) {
    if (other.count == 0) return;
    const double all = count + other.count, delta = other.mean - mean;
    squares += other.squares + delta * delta * count * other.count / all;
    mean += delta * other.count / all;
    count = all;
  }
};

template <typename T>
struct SliceMomentsKernel {
  ChannelSlices<T> slices;
  const T* x;
  SliceMoments* moments;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> channels = slices.ChannelsOf(index);
    const int64_t slice = slices.SliceOf(index);
    // Differences to the first pixel of the slice: no digits cancel, however large the mean.
    const Group<T> first = LoadGroup(x + slice * slices.channels + channels.first, channels.count);
    Group<T> sums = {}, squares = {};
    float count = 0;
    slices.ForEachPixel(index, slices.MoveAtOnce(x), [&](int64_t at, auto how) {
      const Group<T> group = LoadGroup(x + at, channels.count, how);
      for (int i = 0; i < Group<T>::kWidth; ++i) {
        const float difference = group[i] - first[i];
        sums[i] += difference;
        squares[i] += difference * difference;
      }
      ++count;
    });
    const Group<T> origin = LoadGroup(x + channels.first, channels.count);
    SliceMoments* to = moments + slice * slices.channels + channels.first;
    ForEachIn<T>(channels.count, [&](int i) {
      const float mean = sums[i] / count;
      to[i] = {count, first[i] - origin[i] + mean, squares[i] - sums[i] * mean};
    });
  }
};

template <typename T>
struct FinishMoments {
  const T* x;
  float* mean;
  float* variance;

  SHARDMILL_HD void operator()(int64_t channel, const Moments& moments) const {
    const double spread = moments.squares / moments.count;
    mean[channel] = static_cast<float>(static_cast<double>(ToFloat(x[channel])) + moments.mean);
    variance[channel] = static_cast<float>(spread > 0 ? spread : 0);
  }
};

struct UpdateRunningKernel {
  double momentum, unbias;
  const float* mean;
  const float* variance;
  float* running_mean;
  float* running_variance;

  SHARDMILL_HD void operator()(int64_t c) const {
    running_mean[c] = static_cast<float>(running_mean[c] + momentum * (mean[c] - running_mean[c]));
    running_variance[c] = static_cast<float>(
        running_variance[c] + momentum * (variance[c] * unbias - running_variance[c]));
  }
};

// What all passes know of a batch norm.
template <typename T>
struct NormInput {
  ChannelSlices<T> slices;
  ActivationGate gate;
  float epsilon;
  const T* x;
  const float* mean;
  const float* variance;
  const float* scale;
  const float* shift;
};

// The numbers of a group of channels.
template <typename T>
struct NormFactors {
  SHARDMILL_HD NormFactors(const NormInput<T>& norm, const Span<T>& channels)
      : mean(LoadFloats<T>(norm.mean + channels.first, channels.count)),
        inverse_deviation(LoadFloats<T>(norm.variance + channels.first, channels.count)),
        factor(LoadFloats<T>(norm.scale + channels.first, channels.count)),
        shift(LoadFloats<T>(norm.shift + channels.first, channels.count)) {
    for (int i = 0; i < Group<T>::kWidth; ++i) {
      inverse_deviation[i] = 1.0f / sqrtf(inverse_deviation[i] + norm.epsilon);
      factor[i] *= inverse_deviation[i];
    }
  }

  // Before the activation. One rounding order in all kernels: backward finds the mask of forward.
  SHARDMILL_HD float Value(float x, int i) const { return fmaf(x - mean[i], factor[i], shift[i]); }

  Group<T> mean, inverse_deviation, factor, shift;
};

template <typename T>
struct BatchNormForwardKernel {
  NormInput<T> norm;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> channels = norm.slices.ChannelsOf(index);
    const NormFactors<T> factors(norm, channels);
    norm.slices.ForEachPixel(index, norm.slices.MoveAtOnce(norm.x, y), [&](int64_t at, auto how) {
      Group<T> group = LoadGroup(norm.x + at, channels.count, how);
      for (int i = 0; i < Group<T>::kWidth; ++i) {
        group[i] = norm.gate.Held(factors.Value(group[i], i));
      }
      StoreGroup(group, channels.count, y + at, how);
    });
  }
};

// See BatchNormFold. One index: one group of weights; the one with a channel's first weight also
// makes its bias.
template <typename T>
struct FoldBatchNormKernel {
  int64_t channels, weights_per_channel;
  float epsilon;
  const float* weights;
  const float* bias;
  const float* mean;
  const float* variance;
  const float* scale;
  const float* shift;
  T* folded_weights;
  float* folded_bias;

  SHARDMILL_HD float Factor(int64_t channel) const {
    return scale[channel] / sqrtf(variance[channel] + epsilon);
  }

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> span(index, channels * weights_per_channel);
    ForEachIn<T>(span.count, [&](int i) {
      const int64_t at = span.first + i, channel = at / weights_per_channel;
      const float factor = Factor(channel);
      Assign(weights[at] * factor, folded_weights + at);
      if (at != channel * weights_per_channel) return;
      const float own = bias == nullptr ? 0.0f : bias[channel];
      folded_bias[channel] = fmaf(own - mean[channel], factor, shift[channel]);
    });
  }
};

// dy behind the activation.
template <typename T>
SHARDMILL_HD float GatedGradient(const NormInput<T>& norm, const NormFactors<T>& factors, float x,
                                 float dy, int i) {
  if (norm.gate.open) return dy;
  return norm.gate.Passes(Rounded<T>(norm.gate.Held(factors.Value(x, i)))) ? dy : 0.0f;
}

// Per slice and channel: the sums of the gradient times normalised x, and of the gradient.
template <typename T>
struct NormGradientSumsKernel {
  NormInput<T> norm;
  const T* dy;
  SliceSums<2>* sums;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> channels = norm.slices.ChannelsOf(index);
    const NormFactors<T> factors(norm, channels);
    Group<T> products = {}, gradients = {};
    norm.slices.ForEachPixel(index, norm.slices.MoveAtOnce(norm.x, dy), [&](int64_t at, auto how) {
      const Group<T> x = LoadGroup(norm.x + at, channels.count, how);
      const Group<T> g = LoadGroup(dy + at, channels.count, how);
      for (int i = 0; i < Group<T>::kWidth; ++i) {
        const float gradient = GatedGradient(norm, factors, x[i], g[i], i);
        products[i] += gradient * ((x[i] - factors.mean[i]) * factors.inverse_deviation[i]);
        gradients[i] += gradient;
      }
    });
    SliceSums<2>* to = sums + norm.slices.SliceOf(index) * norm.slices.channels + channels.first;
    ForEachIn<T>(channels.count, [&](int i) { to[i] = {products[i], gradients[i]}; });
  }
};

struct FinishNormGradients {
  float* dscale;
  float* dshift;

  SHARDMILL_HD void operator()(int64_t channel, const Sums<2>& sums) const {
    dscale[channel] = static_cast<float>(sums.values[0]);
    dshift[channel] = static_cast<float>(sums.values[1]);
  }
};

template <typename T>
struct BatchNormBackwardKernel {
  NormInput<T> norm;
  const float* dscale;
  const float* dshift;
  float inverse_pixels;
  const T* dy;
  T* dx;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<T> channels = norm.slices.ChannelsOf(index);
    const NormFactors<T> factors(norm, channels);
    Group<T> mean_gradient = LoadFloats<T>(dshift + channels.first, channels.count);
    Group<T> mean_product = LoadFloats<T>(dscale + channels.first, channels.count);
    for (float& mean : mean_gradient.values) mean *= inverse_pixels;
    for (float& mean : mean_product.values) mean *= inverse_pixels;
    const bool at_once = norm.slices.MoveAtOnce(norm.x, dy, dx);
    norm.slices.ForEachPixel(index, at_once, [&](int64_t at, auto how) {
      const Group<T> x = LoadGroup(norm.x + at, channels.count, how);
      Group<T> g = LoadGroup(dy + at, channels.count, how);
      for (int i = 0; i < Group<T>::kWidth; ++i) {
        const float normalized = (x[i] - factors.mean[i]) * factors.inverse_deviation[i];
        const float gradient = GatedGradient(norm, factors, x[i], g[i], i);
        g[i] = factors.factor[i] * (gradient - mean_gradient[i] - normalized * mean_product[i]);
      }
      StoreGroup(g, channels.count, dx + at, how);
    });
  }
};

}  // namespace shardmill
