// Softmax cross-entropy and what goes with it, pixel by pixel; the sums over pixels are folded.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/atomic_add.h"
#include "trainer/cuda/kernels/fold.h"
#include "trainer/cuda/kernels/pixel_targets.h"

namespace shardmill {

// Pixels that one index of the kernels with sums goes through: every `slices`-th one.
constexpr int64_t kLossSlicePixels = 8;

inline int64_t LossSlices(int64_t pixels) { return CeilDivide(pixels, kLossSlicePixels); }

// One index: one slice, whose weight becomes sums[index].
struct LossWeightKernel {
  PixelTargets targets;
  int64_t pixels, slices;
  double* sums;

  SHARDMILL_HD void operator()(int64_t index) const {
    double sum = 0;
    for (int64_t p = index; p < pixels; p += slices) sum += PixelTarget(targets, p).Weight();
    sums[index] = sum;
  }
};

struct DoubleSum {
  double value = 0;
  SHARDMILL_HD void Add(double other) { value += other; }
  SHARDMILL_HD void Add(const DoubleSum& other) { value += other.value; }
};

// *destination = factor * sum
struct FinishScaledSum {
  double factor;
  double* destination;

  SHARDMILL_HD void operator()(int64_t, const DoubleSum& sum) const {
    *destination = factor * sum.value;
  }
};

// One index: one slice. Writes the gradient of each pixel unless dlogits is null.
template <typename T>
struct CrossEntropyKernel {
  PixelTargets targets;
  int64_t pixels, slices;
  double factor;
  const T* logits;
  const double* total_weight;
  double* sums;
  T* dlogits;

  SHARDMILL_HD void operator()(int64_t index) const {
    const double total = *total_weight;
    const auto scale = static_cast<float>(total > 0 ? factor / total : 0.0);
    double sum = 0;
    for (int64_t p = index; p < pixels; p += slices) sum += Pixel(p, scale);
    sums[index] = sum;
  }

  SHARDMILL_HD float Pixel(int64_t pixel, float scale) const {
    const int64_t classes = targets.classes;
    const PixelTarget target(targets, pixel);
    const T* values = logits + pixel * classes;
    T* gradients = dlogits == nullptr ? nullptr : dlogits + pixel * classes;
    float aims = 0, loss = 0;
    for (int64_t k = 0; k < classes; ++k) aims += target.Aim(k);
    if (!(aims > 0)) {
      for (int64_t k = 0; k < classes && gradients != nullptr; ++k) Assign(0.0f, gradients + k);
      return 0;
    }
    const float log_of_sum = LogOfSum(values, classes);
    for (int64_t k = 0; k < classes; ++k) {
      const float value = ToFloat(values[k]), aim = target.Aim(k);
      if (aim > 0) loss += aim * (log_of_sum - value);
      if (gradients == nullptr) continue;
      Assign(scale * (aims * expf(value - log_of_sum) - aim), gradients + k);
    }
    return loss;
  }
};

// One index: one pixel.
template <typename T>
struct TargetProbabilityKernel {
  PixelTargets targets;
  const T* logits;
  float* probabilities;

  SHARDMILL_HD void operator()(int64_t pixel) const {
    const PixelTarget target(targets, pixel);
    probabilities[pixel] = -1;
    if (!(target.Weight() > 0)) return;
    const T* values = logits + pixel * targets.classes;
    const float log_of_sum = LogOfSum(values, targets.classes);
    float sum = 0;
    for (int64_t k = 0; k < targets.classes; ++k) {
      const float share = target.Share(k);
      if (share > 0) sum += share * expf(ToFloat(values[k]) - log_of_sum);
    }
    probabilities[pixel] = sum / target.share_sum();
  }
};

// One index: a run of kRun pixels. Neighbours often share a bin, which is then added to once.
struct CountProbabilitiesKernel {
  static constexpr int64_t kRun = 64;
  int64_t pixels, bins;
  const float* probabilities;
  double* counts;

  SHARDMILL_HD void operator()(int64_t index) const {
    const int64_t end = Smaller((index + 1) * kRun, pixels);
    int64_t last = 0, times = 0;
    for (int64_t p = index * kRun; p < end; ++p) {
      if (!(probabilities[p] >= 0)) continue;
      const float scaled = probabilities[p] * static_cast<float>(bins);
      const int64_t bin =
          scaled < static_cast<float>(bins) ? static_cast<int64_t>(scaled) : bins - 1;
      if (bin != last && times > 0) {
        AddWholeNumber(static_cast<double>(times), counts + last);
        times = 0;
      }
      last = bin;
      ++times;
    }
    if (times > 0) AddWholeNumber(static_cast<double>(times), counts + last);
  }
};

// One index: one pixel.
template <typename T>
struct ArgmaxKernel {
  int64_t channels;
  const T* logits;
  LabelType type;
  void* classes;

  SHARDMILL_HD void operator()(int64_t pixel) const {
    const T* values = logits + pixel * channels;
    int64_t best = 0;
    float top = ToFloat(values[0]);
    for (int64_t k = 1; k < channels; ++k) {
      if (!(top < ToFloat(values[k]))) continue;
      top = ToFloat(values[k]);
      best = k;
    }
    if (type == LabelType::kIndexU8) {
      static_cast<uint8_t*>(classes)[pixel] = static_cast<uint8_t>(best);
    } else {
      static_cast<uint16_t*>(classes)[pixel] = static_cast<uint16_t>(best);
    }
  }
};

}  // namespace shardmill
