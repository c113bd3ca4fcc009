// Reductions of a whole image or sequence to one pixel. One index makes one group of channels of
// one image: there are enough of these, and the images are small where networks do this.
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/cuda/kernels/place.h"

namespace shardmill {

// One index: one group of one image.
template <typename T>
struct GlobalAveragePoolForwardKernel {
  Shape shape;
  Places<T> images;  // n × 1 × 1 × c
  const T* x;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = images.At(index);
    const int64_t pixels = shape.h * shape.w;
    const T* from = x + place.n * pixels * shape.c + place.channels.first;
    double sums[Group<T>::kWidth] = {};
    for (int64_t p = 0; p < pixels; ++p) {
      const Group<T> values = LoadGroup(from + p * shape.c, place.channels.count);
      for (int i = 0; i < Group<T>::kWidth; ++i) sums[i] += values[i];
    }
    Group<T> means;
    for (int i = 0; i < Group<T>::kWidth; ++i) {
      means[i] = static_cast<float>(sums[i] / static_cast<double>(pixels));
    }
    StoreGroup(means, place.channels.count, y + place.offset);
  }
};

// One index: one group of one pixel of x.
template <typename T>
struct GlobalAveragePoolBackwardKernel {
  Places<T> places;
  const T* dy;
  GradientMode mode;
  T* dx;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = places.At(index);
    const Shape& shape = places.shape();
    const T* from = dy + place.n * shape.c + place.channels.first;
    Group<T> gradients = LoadGroup(from, place.channels.count);
    const auto pixels = static_cast<float>(shape.h * shape.w);
    for (float& gradient : gradients.values) gradient /= pixels;
    StoreGradients(gradients, mode, place.channels.count, dx + place.offset);
  }
};

SHARDMILL_HD int64_t FramesOf(const Shape& shape, const int32_t* lengths, int64_t n) {
  return lengths == nullptr ? shape.w : lengths[n];
}

// One index: one group of one sequence.
template <typename T>
struct StatisticsPoolForwardKernel {
  Shape shape;
  Places<T> sequences;  // n × 1 × 1 × c
  const int32_t* lengths;
  double epsilon;
  const T* x;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    constexpr int kWidth = Group<T>::kWidth;
    const Place<T> place = sequences.At(index);
    const int64_t frames = FramesOf(shape, lengths, place.n);
    const T* from = x + place.n * shape.w * shape.c + place.channels.first;
    double means[kWidth] = {}, squares[kWidth] = {};
    for (int64_t t = 0; t < frames; ++t) {
      const Group<T> values = LoadGroup(from + t * shape.c, place.channels.count);
      for (int i = 0; i < kWidth; ++i) means[i] += values[i];
    }
    for (double& mean : means) mean /= static_cast<double>(frames);
    for (int64_t t = 0; t < frames; ++t) {
      const Group<T> values = LoadGroup(from + t * shape.c, place.channels.count);
      for (int i = 0; i < kWidth; ++i)
        squares[i] += (values[i] - means[i]) * (values[i] - means[i]);
    }
    Group<T> mean, deviation;
    for (int i = 0; i < kWidth; ++i) {
      mean[i] = static_cast<float>(means[i]);
      deviation[i] = static_cast<float>(sqrt(squares[i] / static_cast<double>(frames) + epsilon));
    }
    T* to = y + place.n * 2 * shape.c + place.channels.first;
    StoreGroup(mean, place.channels.count, to);
    StoreGroup(deviation, place.channels.count, to + shape.c);
  }
};

// One index: one group of one frame.
template <typename T>
struct StatisticsPoolBackwardKernel {
  Places<T> places;
  const int32_t* lengths;
  const T* x;
  const T* y;
  const T* dy;
  GradientMode mode;
  T* dx;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = places.At(index);
    const Shape& shape = places.shape();
    const int count = place.channels.count;
    const int64_t frames = FramesOf(shape, lengths, place.n);
    const int64_t of_mean = place.n * 2 * shape.c + place.channels.first;
    Group<T> gradients = {};
    if (place.x < frames) {
      const Group<T> values = LoadGroup(x + place.offset, count);
      const Group<T> mean = LoadGroup(y + of_mean, count);
      const Group<T> deviation = LoadGroup(y + of_mean + shape.c, count);
      const Group<T> dmean = LoadGroup(dy + of_mean, count);
      const Group<T> ddeviation = LoadGroup(dy + of_mean + shape.c, count);
      for (int i = 0; i < Group<T>::kWidth; ++i) {
        const float slope = (values[i] - mean[i]) / deviation[i];
        gradients[i] = (dmean[i] + ddeviation[i] * slope) / static_cast<float>(frames);
      }
    }
    StoreGradients(gradients, mode, count, dx + place.offset);
  }
};

// One index: one group of one frame.
template <typename T>
struct ZeroPaddingKernel {
  Places<T> places;
  const int32_t* lengths;
  T* x;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = places.At(index);
    const Shape& shape = places.shape();
    if (place.x < FramesOf(shape, lengths, place.n)) return;
    StoreGroup(Group<T>{}, place.channels.count, x + place.offset);
  }
};

}  // namespace shardmill
