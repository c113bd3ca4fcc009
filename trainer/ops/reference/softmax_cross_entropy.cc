#include <algorithm>
#include <cmath>

#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {
namespace {

// What one pixel of the batch should be: weight of class k in the target, class and row weights
// included; all zero where the pixel does not count.
class Targets {
 public:
  explicit Targets(const LossCall& loss) : loss_(loss) {}

  double Of(int64_t pixel, int64_t k) const {
    const Shape& logits = loss_.shape.logits;
    const double row =
        loss_.row_weights == nullptr ? 1.0 : loss_.row_weights[pixel / (logits.h * logits.w)];
    const double weight = loss_.class_weights == nullptr ? 1.0 : loss_.class_weights[k];
    return row * weight * Share(pixel, k);
  }

  double Weight(int64_t pixel) const {
    double sum = 0;
    for (int64_t k = 0; k < loss_.shape.logits.c; ++k) sum += Of(pixel, k);
    return sum;
  }

 private:
  double Share(int64_t pixel, int64_t k) const {
    if (loss_.shape.label_type == LabelType::kOneHotF32) {
      return Elements<float>(loss_.labels)[pixel * loss_.shape.logits.c + k];
    }
    const int64_t label = loss_.shape.label_type == LabelType::kIndexU8
                              ? Elements<uint8_t>(loss_.labels)[pixel]
                              : Elements<uint16_t>(loss_.labels)[pixel];
    return label == k && label != loss_.shape.ignore ? 1.0 : 0.0;
  }

  const LossCall& loss_;
};

template <typename T>
double LogOfSum(const T* logits, int64_t classes) {
  const double top = *std::max_element(logits, logits + classes);
  double sum = 0;
  for (int64_t k = 0; k < classes; ++k) sum += std::exp(logits[k] - top);
  return top + std::log(sum);
}

// Adds one pixel to the loss and writes its gradient unless `dlogits` is null.
template <typename T>
double Pixel(const Targets& targets, int64_t pixel, int64_t classes, const T* logits,
             double gradient_scale, T* dlogits) {
  const double weight = targets.Weight(pixel);
  const double log_of_sum = LogOfSum(logits, classes);
  double loss = 0;
  for (int64_t k = 0; k < classes; ++k) {
    const double target = targets.Of(pixel, k);
    if (target > 0) loss += target * (log_of_sum - logits[k]);
    if (dlogits == nullptr) continue;
    const double probability = std::exp(logits[k] - log_of_sum);
    dlogits[k] =
        weight > 0 ? static_cast<T>(gradient_scale * (weight * probability - target)) : T{0};
  }
  return loss;
}

}  // namespace

Status ReferenceOps::LossWeight(Stream&, const LossCall& loss, double* weight_sum) {
  const Targets targets(loss);
  double sum = 0;
  for (int64_t p = 0; p < loss.shape.logits.Pixels(); ++p) sum += targets.Weight(p);
  *weight_sum = sum;
  return OkStatus();
}

Status ReferenceOps::SoftmaxCrossEntropy(Stream&, const LossCall& loss, const void* logits,
                                         const double* total_weight, double* loss_sum,
                                         void* dlogits) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    const Targets targets(loss);
    const int64_t classes = loss.shape.logits.c;
    const double gradient_scale = *total_weight > 0 ? 1 / *total_weight : 0.0;
    double sum = 0;
    for (int64_t p = 0; p < loss.shape.logits.Pixels(); ++p) {
      T* gradient = dlogits == nullptr ? nullptr : Elements<T>(dlogits) + p * classes;
      sum += Pixel<T>(targets, p, classes, Elements<T>(logits) + p * classes, gradient_scale,
                      gradient);
    }
    *loss_sum = sum;
  });
  return OkStatus();
}

Status ReferenceOps::Argmax(Stream&, const Shape& shape, const void* logits, LabelType type,
                            void* classes) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t p = 0; p < shape.Pixels(); ++p) {
      const T* first = Elements<T>(logits) + p * shape.c;
      const int64_t best = std::max_element(first, first + shape.c) - first;
      if (type == LabelType::kIndexU8) {
        Elements<uint8_t>(classes)[p] = static_cast<uint8_t>(best);
      } else {
        Elements<uint16_t>(classes)[p] = static_cast<uint16_t>(best);
      }
    }
  });
  return OkStatus();
}

}  // namespace shardmill
