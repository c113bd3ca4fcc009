// What each pixel of a batch should be, read from class ids as they are stored: nothing is ever
// expanded to one number per class.
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/cuda/kernels/bfloat16.h"
#include "trainer/graph/tensor.h"

namespace shardmill {

// Everything is 0 for pixels that do not count. For the meaning of the members see LossCall.
struct PixelTargets {
  int64_t classes, image_pixels;
  LabelType label_type;
  int64_t ignore;
  const void* labels;
  const float* class_weights;
  const float* row_weights;
  float smoothing;
  const float* probabilities;
  const double* probability_limit;

  SHARDMILL_HD float RowWeight(int64_t pixel) const {
    return row_weights == nullptr ? 1.0f : row_weights[pixel / image_pixels];
  }
  SHARDMILL_HD float ClassWeight(int64_t k) const {
    return class_weights == nullptr ? 1.0f : class_weights[k];
  }
  SHARDMILL_HD bool IsTooEasy(int64_t pixel) const {
    return probabilities != nullptr && probability_limit != nullptr &&
           static_cast<double>(probabilities[pixel]) >= *probability_limit;
  }
};

// One pixel of it.
class PixelTarget {
 public:
  SHARDMILL_HD PixelTarget(const PixelTargets& targets, int64_t pixel) : targets_(targets) {
    if (targets.IsTooEasy(pixel)) return;
    if (targets.label_type == LabelType::kOneHotF32) {
      shares_ = static_cast<const float*>(targets.labels) + pixel * targets.classes;
      for (int64_t k = 0; k < targets.classes; ++k) share_sum_ += shares_[k];
    } else {
      const int64_t label = targets.label_type == LabelType::kIndexU8
                                ? static_cast<const uint8_t*>(targets.labels)[pixel]
                                : static_cast<const uint16_t*>(targets.labels)[pixel];
      if (label >= targets.classes || label == targets.ignore) return;
      class_ = label;
      share_sum_ = 1;
    }
    if (share_sum_ > 0) row_weight_ = targets.RowWeight(pixel);
  }

  // How much of the pixel is class k, and the sum of that over the classes.
  SHARDMILL_HD float Share(int64_t k) const {
    return shares_ != nullptr ? shares_[k] : k == class_ ? 1.0f : 0.0f;
  }
  SHARDMILL_HD float share_sum() const { return share_sum_; }
  SHARDMILL_HD float row_weight() const { return row_weight_; }

  // What the cross-entropy aims at: smoothed, with the weights of row and class.
  SHARDMILL_HD float Aim(int64_t k) const {
    const float even = targets_.smoothing * share_sum_ / static_cast<float>(targets_.classes);
    return row_weight_ * targets_.ClassWeight(k) * ((1 - targets_.smoothing) * Share(k) + even);
  }

  SHARDMILL_HD float Weight() const {
    if (shares_ == nullptr) return class_ < 0 ? 0.0f : row_weight_ * targets_.ClassWeight(class_);
    float sum = 0;
    for (int64_t k = 0; k < targets_.classes; ++k) sum += shares_[k] * targets_.ClassWeight(k);
    return row_weight_ * sum;
  }

 private:
  const PixelTargets& targets_;
  int64_t class_ = -1;
  const float* shares_ = nullptr;
  float share_sum_ = 0;
  float row_weight_ = 0;
};

// Logarithm of the sum of the exponentials.
template <typename T>
SHARDMILL_HD float LogOfSum(const T* logits, int64_t classes) {
  float top = ToFloat(logits[0]);
  for (int64_t k = 1; k < classes; ++k) top = fmaxf(top, ToFloat(logits[k]));
  float sum = 0;
  for (int64_t k = 0; k < classes; ++k) sum += expf(ToFloat(logits[k]) - top);
  return top + logf(sum);
}

}  // namespace shardmill
