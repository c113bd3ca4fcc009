// The labels of a batch as the reference backend reads them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "trainer/ops/op_table.h"
#include "trainer/ops/reference/element.h"

namespace shardmill {

// What one pixel of the batch should be. Everything is 0 where the pixel does not count.
class Targets {
 public:
  explicit Targets(const LossCall& loss) : loss_(loss) {}

  // The label itself: how much of the pixel is class k.
  double Share(int64_t pixel, int64_t k) const {
    if (IsTooEasy(pixel)) return 0;
    if (loss_.shape.label_type == LabelType::kOneHotF32) {
      return Elements<float>(loss_.labels)[pixel * Classes() + k];
    }
    const int64_t label = loss_.shape.label_type == LabelType::kIndexU8
                              ? Elements<uint8_t>(loss_.labels)[pixel]
                              : Elements<uint16_t>(loss_.labels)[pixel];
    return label == k && label != loss_.shape.ignore ? 1.0 : 0.0;
  }

  double Shares(int64_t pixel) const {
    double sum = 0;
    for (int64_t k = 0; k < Classes(); ++k) sum += Share(pixel, k);
    return sum;
  }

  // What the cross-entropy aims at: smoothed, with the weights of row and class.
  double Aim(int64_t pixel, int64_t k) const {
    const double smoothed = (1 - loss_.label_smoothing) * Share(pixel, k) +
                            loss_.label_smoothing * Shares(pixel) / Classes();
    return RowWeight(pixel) * ClassWeight(k) * smoothed;
  }

  double Weight(int64_t pixel) const {
    double sum = 0;
    for (int64_t k = 0; k < Classes(); ++k) {
      sum += RowWeight(pixel) * ClassWeight(k) * Share(pixel, k);
    }
    return sum;
  }

  int64_t Classes() const { return loss_.shape.logits.c; }

 private:
  bool IsTooEasy(int64_t pixel) const {
    return loss_.probabilities != nullptr && loss_.probability_limit != nullptr &&
           loss_.probabilities[pixel] >= *loss_.probability_limit;
  }
  double RowWeight(int64_t pixel) const {
    const Shape& logits = loss_.shape.logits;
    return loss_.row_weights == nullptr ? 1.0 : loss_.row_weights[pixel / (logits.h * logits.w)];
  }
  double ClassWeight(int64_t k) const {
    return loss_.class_weights == nullptr ? 1.0 : loss_.class_weights[k];
  }

  const LossCall& loss_;
};

// Logarithm of the sum of the exponentials.
template <typename T>
double LogOfSum(const T* logits, int64_t classes) {
  const double top = *std::max_element(logits, logits + classes);
  double sum = 0;
  for (int64_t k = 0; k < classes; ++k) sum += std::exp(logits[k] - top);
  return top + std::log(sum);
}

}  // namespace shardmill
