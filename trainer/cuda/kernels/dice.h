// The Dice loss: sums per image and class, then a gradient per pixel.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/cross_entropy.h"

namespace shardmill {

// About how many pixels one slice of an image holds.
constexpr int64_t kDiceSlicePixels = 32;

// One index: one pixel.
template <typename T>
struct LogOfSumKernel {
  int64_t classes;
  const T* logits;
  float* logs;

  SHARDMILL_HD void operator()(int64_t pixel) const {
    logs[pixel] = LogOfSum(logits + pixel * classes, classes);
  }
};

// What is summed per image and class, in this order: probability times target, probability,
// target, weight.
constexpr int kDiceSums = 4;

// The layout is [slice][image][class]; one index: one of these.
template <typename T>
struct DiceSumsKernel {
  PixelTargets targets;
  int64_t images, slices;
  const T* logits;
  const float* logs;
  SliceSums<kDiceSums>* sums;

  SHARDMILL_HD void operator()(int64_t index) const {
    const int64_t classes = targets.classes, k = index % classes;
    const int64_t image = index / classes % images, slice = index / classes / images;
    const int64_t end = (image + 1) * targets.image_pixels;
    SliceSums<kDiceSums> sum = {};
    for (int64_t p = image * targets.image_pixels + slice; p < end; p += slices) {
      const PixelTarget target(targets, p);
      if (!(target.share_sum() > 0)) continue;
      const float probability = expf(ToFloat(logits[p * classes + k]) - logs[p]);
      const float share = target.Share(k);
      sum.values[0] += share * probability;
      sum.values[1] += target.share_sum() * probability;
      sum.values[2] += share;
      sum.values[3] += target.row_weight() * targets.ClassWeight(k) * share;
    }
    sums[index] = sum;
  }
};

// Keeps the sums of an image and a class.
struct FinishDiceSums {
  Sums<kDiceSums>* sums;

  SHARDMILL_HD void operator()(int64_t column, const Sums<kDiceSums>& sum) const {
    sums[column] = sum;
  }
};

SHARDMILL_HD double DiceNumerator(const Sums<kDiceSums>& sums) { return 2 * sums.values[0] + 1; }
SHARDMILL_HD double DiceDenominator(const Sums<kDiceSums>& sums) {
  return sums.values[1] + sums.values[2] + 1;
}

// One index: one image; makes its loss and its weight.
struct DiceImageKernel {
  int64_t classes;
  const Sums<kDiceSums>* sums;
  double* losses;
  double* weights;

  SHARDMILL_HD void operator()(int64_t image) const {
    double mean = 0, weight = 0;
    for (int64_t k = 0; k < classes; ++k) {
      const Sums<kDiceSums>& sum = sums[image * classes + k];
      mean += DiceNumerator(sum) / DiceDenominator(sum);
      weight += sum.values[3];
    }
    weights[image] = weight;
    losses[image] = weight * (1 - mean / static_cast<double>(classes));
  }
};

// The only index adds the losses of the images.
struct DiceLossKernel {
  int64_t images;
  double factor;
  const double* losses;
  double* loss_sum;

  SHARDMILL_HD void operator()(int64_t) const {
    double sum = 0;
    for (int64_t image = 0; image < images; ++image) sum += losses[image];
    *loss_sum += factor * sum;
  }
};

// One index: one pixel, whose gradient is added to.
template <typename T>
struct DiceGradientKernel {
  PixelTargets targets;
  double factor;
  const T* logits;
  const float* logs;
  const Sums<kDiceSums>* sums;
  const double* weights;
  const double* total_weight;
  T* dlogits;

  SHARDMILL_HD void operator()(int64_t pixel) const {
    const PixelTarget target(targets, pixel);
    if (!(target.share_sum() > 0) || !(*total_weight > 0)) return;
    const int64_t classes = targets.classes, image = pixel / targets.image_pixels;
    const auto scale = static_cast<float>(-factor * weights[image] /
                                          (*total_weight * static_cast<double>(classes)));
    const T* values = logits + pixel * classes;
    float mean = 0;
    for (int64_t k = 0; k < classes; ++k) {
      mean += ByProbability(target, image, k) * expf(ToFloat(values[k]) - logs[pixel]);
    }
    for (int64_t k = 0; k < classes; ++k) {
      const float probability = expf(ToFloat(values[k]) - logs[pixel]);
      T* gradient = dlogits + pixel * classes + k;
      const float change = scale * probability * (ByProbability(target, image, k) - mean);
      Assign(ToFloat(*gradient) + change, gradient);
    }
  }

  // The derivative of the quotient of class k by the probability of that class.
  SHARDMILL_HD float ByProbability(const PixelTarget& target, int64_t image, int64_t k) const {
    const Sums<kDiceSums>& sum = sums[image * targets.classes + k];
    const double numerator = DiceNumerator(sum), denominator = DiceDenominator(sum);
    return static_cast<float>((2.0 * target.Share(k) * denominator -
                               static_cast<double>(target.share_sum()) * numerator) /
                              (denominator * denominator));
  }
};

}  // namespace shardmill
