#include <algorithm>
#include <cmath>

#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"
#include "trainer/ops/reference/targets.h"

namespace shardmill {
namespace {

// The loss of one pixel. Writes its gradient unless `dlogits` is null.
template <typename T>
double Pixel(const Targets& targets, int64_t pixel, const T* logits, double gradient_scale,
             T* dlogits) {
  const int64_t classes = targets.Classes();
  double aims = 0, loss = 0;
  const double log_of_sum = LogOfSum(logits, classes);
  for (int64_t k = 0; k < classes; ++k) {
    const double aim = targets.Aim(pixel, k);
    if (aim > 0) loss += aim * (log_of_sum - logits[k]);
    aims += aim;
  }
  for (int64_t k = 0; k < classes && dlogits != nullptr; ++k) {
    const double probability = std::exp(logits[k] - log_of_sum);
    const double gradient = gradient_scale * (aims * probability - targets.Aim(pixel, k));
    dlogits[k] = aims > 0 ? static_cast<T>(gradient) : T{0};
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
    const double gradient_scale = *total_weight > 0 ? loss.cross_entropy / *total_weight : 0.0;
    double sum = 0;
    for (int64_t p = 0; p < loss.shape.logits.Pixels(); ++p) {
      T* gradient = dlogits == nullptr ? nullptr : Elements<T>(dlogits) + p * classes;
      sum += Pixel<T>(targets, p, Elements<T>(logits) + p * classes, gradient_scale, gradient);
    }
    *loss_sum = loss.cross_entropy * sum;
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
