#include <algorithm>
#include <array>
#include <cmath>

#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"
#include "trainer/ops/onednn/softmax_kernels.h"
#include "trainer/ops/onednn/targets.h"

namespace shardmill {
namespace {

constexpr int64_t kBlockPixels = 256;

// The probability of the target of one pixel that counts.
float ProbabilityOf(const Targets& targets, int64_t pixel, const float* logits, float log_sum) {
  if (!targets.dense()) return std::exp(logits[targets.Class(pixel)] - log_sum);
  float sum = 0;
  for (int64_t k = 0; k < targets.classes(); ++k) {
    const float share = targets.Shares(pixel)[k];
    if (share > 0) sum += share * std::exp(logits[k] - log_sum);
  }
  return sum / targets.ShareSum(pixel);
}

}  // namespace

Status OnednnOps::TargetProbabilities(Stream&, const LossCall& loss, const void* logits,
                                      float* probabilities) {
  LossCall all = loss;
  all.probabilities = nullptr;
  const Targets targets(all);
  const int64_t classes = targets.classes(), pixels = loss.shape.logits.Pixels();
  ParallelFor((pixels + kBlockPixels - 1) / kBlockPixels, [&](int64_t block, int64_t) {
    const std::array<float, kBlockPixels> factors = {};
    std::array<float, kBlockPixels> log_sums = {};
    const int64_t first = block * kBlockPixels;
    const int64_t count = std::min(kBlockPixels, pixels - first);
    const float* values = static_cast<const float*>(logits) + first * classes;
    SoftmaxPixels(values, count, classes, factors.data(), nullptr, log_sums.data());
    for (int64_t i = 0; i < count; ++i) {
      const bool counts = targets.Weight(first + i) > 0;
      probabilities[first + i] =
          counts ? ProbabilityOf(targets, first + i, values + i * classes, log_sums[i]) : -1.0f;
    }
  });
  return OkStatus();
}

Status OnednnOps::CountProbabilities(Stream&, int64_t pixels, const float* probabilities,
                                     double* counts) {
  std::fill_n(counts, kProbabilityBins, 0.0);
  for (int64_t p = 0; p < pixels; ++p) {
    if (!(probabilities[p] >= 0)) continue;  // also NaN
    const auto bin = static_cast<int64_t>(probabilities[p] * kProbabilityBins);
    ++counts[std::min(bin, kProbabilityBins - 1)];
  }
  return OkStatus();
}

}  // namespace shardmill
