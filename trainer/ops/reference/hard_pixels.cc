#include <algorithm>

#include "trainer/ops/reference/reference_ops.h"
#include "trainer/ops/reference/targets.h"

namespace shardmill {

Status ReferenceOps::TargetProbabilities(Stream&, const LossCall& loss, const void* logits,
                                         float* probabilities) {
  LossCall all = loss;
  all.probabilities = nullptr;
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    const Targets targets(all);
    const int64_t classes = targets.Classes();
    for (int64_t p = 0; p < loss.shape.logits.Pixels(); ++p) {
      const T* pixel = Elements<T>(logits) + p * classes;
      double sum = 0;
      for (int64_t k = 0; k < classes; ++k) {
        sum += targets.Share(p, k) * std::exp(pixel[k] - LogOfSum(pixel, classes));
      }
      probabilities[p] =
          targets.Weight(p) > 0 ? static_cast<float>(sum / targets.Shares(p)) : -1.0f;
    }
  });
  return OkStatus();
}

Status ReferenceOps::CountProbabilities(Stream&, int64_t pixels, const float* probabilities,
                                        double* counts) {
  std::fill_n(counts, kProbabilityBins, 0.0);
  for (int64_t p = 0; p < pixels; ++p) {
    if (probabilities[p] < 0) continue;
    const auto bin = static_cast<int64_t>(probabilities[p] * kProbabilityBins);
    ++counts[std::min(bin, kProbabilityBins - 1)];
  }
  return OkStatus();
}

}  // namespace shardmill
