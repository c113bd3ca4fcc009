// The labels of a batch as the CPU backend reads them.
#pragma once

#include <cstdint>

#include "trainer/ops/op_table.h"

namespace shardmill {

// The labels of a batch as weighted targets. A pixel has either one target class, or (one-hot and
// soft labels) a row of shares.
class Targets {
 public:
  explicit Targets(const LossCall& loss)
      : loss_(loss),
        classes_(loss.shape.logits.c),
        image_pixels_(loss.shape.logits.h * loss.shape.logits.w),
        smoothing_(static_cast<float>(loss.label_smoothing)) {
    double sum = 0;
    for (int64_t k = 0; k < classes_; ++k) sum += ClassWeight(k);
    mean_class_weight_ = static_cast<float>(sum / static_cast<double>(classes_));
  }

  bool dense() const { return loss_.shape.label_type == LabelType::kOneHotF32; }
  bool smoothed() const { return smoothing_ > 0; }
  int64_t classes() const { return classes_; }

  const float* Shares(int64_t pixel) const {
    return static_cast<const float*>(loss_.labels) + pixel * classes_;
  }
  float RowWeight(int64_t pixel) const {
    return loss_.row_weights == nullptr ? 1.0f : loss_.row_weights[pixel / image_pixels_];
  }
  float ClassWeight(int64_t k) const {
    return loss_.class_weights == nullptr ? 1.0f : loss_.class_weights[k];
  }
  // The target class, or -1 where the pixel does not count. REQUIRES: !dense().
  int64_t Class(int64_t pixel) const {
    if (IsTooEasy(pixel)) return -1;
    const int64_t label = loss_.shape.label_type == LabelType::kIndexU8
                              ? static_cast<const uint8_t*>(loss_.labels)[pixel]
                              : static_cast<const uint16_t*>(loss_.labels)[pixel];
    return label < classes_ && label != loss_.shape.ignore ? label : -1;
  }
  // The sum of the targets: 1 or 0 for class ids.
  float ShareSum(int64_t pixel) const {
    if (!dense()) return Class(pixel) < 0 ? 0.0f : 1.0f;
    if (IsTooEasy(pixel)) return 0;
    float sum = 0;
    for (int64_t k = 0; k < classes_; ++k) sum += Shares(pixel)[k];
    return sum;
  }
  float Weight(int64_t pixel) const {
    if (!dense()) {
      const int64_t k = Class(pixel);
      return k < 0 ? 0.0f : RowWeight(pixel) * ClassWeight(k);
    }
    if (IsTooEasy(pixel)) return 0;
    float sum = 0;
    for (int64_t k = 0; k < classes_; ++k) sum += Shares(pixel)[k] * ClassWeight(k);
    return RowWeight(pixel) * sum;
  }
  // The sum over the classes of what the cross-entropy aims at.
  float AimSum(int64_t pixel) const {
    const float weight = Weight(pixel);
    if (!smoothed()) return weight;
    return (1 - smoothing_) * weight +
           smoothing_ * RowWeight(pixel) * ShareSum(pixel) * mean_class_weight_;
  }
  // What it aims at for one class. REQUIRES: the pixel counts; `share_sum` is ShareSum(pixel) and
  // `k_share` the target of class k.
  float Aim(int64_t pixel, int64_t k, float k_share, float share_sum) const {
    const float even = smoothing_ * share_sum / static_cast<float>(classes_);
    return RowWeight(pixel) * ClassWeight(k) * ((1 - smoothing_) * k_share + even);
  }

 private:
  bool IsTooEasy(int64_t pixel) const {
    return loss_.probabilities != nullptr && loss_.probability_limit != nullptr &&
           loss_.probabilities[pixel] >= *loss_.probability_limit;
  }

  const LossCall& loss_;
  int64_t classes_, image_pixels_;
  float smoothing_, mean_class_weight_;
};

}  // namespace shardmill
