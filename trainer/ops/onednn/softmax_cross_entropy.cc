#include <algorithm>
#include <array>

#include "trainer/ops/onednn/dice_workspace.h"
#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"
#include "trainer/ops/onednn/softmax_kernels.h"
#include "trainer/ops/onednn/targets.h"

namespace shardmill {
namespace {

constexpr int64_t kBlockPixels = 256;  // logits and gradients of a block stay in the cache

int64_t BlockCount(const Shape& logits) {
  return (logits.Pixels() + kBlockPixels - 1) / kBlockPixels;
}

// Runs body(first pixel, count) for each block, in parallel, and adds up what it returns in the
// order of the blocks.
template <typename Body>
double SumOverBlocks(const LossCall& loss, const Body& body) {
  auto* partials = static_cast<double*>(loss.workspace);
  const int64_t pixels = loss.shape.logits.Pixels();
  const int64_t blocks = BlockCount(loss.shape.logits);
  ParallelFor(blocks, [&](int64_t block, int64_t) {
    const int64_t first = block * kBlockPixels;
    partials[block] = body(first, std::min(kBlockPixels, pixels - first));
  });
  double sum = 0;
  for (int64_t block = 0; block < blocks; ++block) sum += partials[block];
  return sum;
}

// Subtracts what is aimed at from the gradient of one pixel and returns its loss. REQUIRES: the
// pixel has one target class and no label smoothing.
double FinishClassPixel(const Targets& targets, int64_t pixel, const float* logits, float log_sum,
                        float gradient_scale, float* gradient) {
  const int64_t k = targets.Class(pixel);
  const float weight = targets.RowWeight(pixel) * targets.ClassWeight(k);
  if (gradient != nullptr) gradient[k] -= weight * gradient_scale;
  return static_cast<double>(weight) * (log_sum - logits[k]);
}

// The same for any pixel that counts.
double FinishPixel(const Targets& targets, int64_t pixel, const float* logits, float log_sum,
                   float gradient_scale, float* gradient) {
  if (!targets.dense() && !targets.smoothed()) {
    return FinishClassPixel(targets, pixel, logits, log_sum, gradient_scale, gradient);
  }
  const int64_t target = targets.dense() ? -1 : targets.Class(pixel);
  const float share_sum = targets.ShareSum(pixel);
  double loss = 0;
  for (int64_t k = 0; k < targets.classes(); ++k) {
    const float share = targets.dense() ? targets.Shares(pixel)[k] : k == target ? 1.0f : 0.0f;
    const float aim = targets.Aim(pixel, k, share, share_sum);
    if (aim == 0) continue;
    if (gradient != nullptr) gradient[k] -= aim * gradient_scale;
    loss += static_cast<double>(aim) * (log_sum - logits[k]);
  }
  return loss;
}

// Loss and gradient (unless `gradients` is null) of a block of pixels.
double FinishBlock(const Targets& targets, int64_t first, int64_t count, const float* logits,
                   float gradient_scale, float* gradients) {
  const int64_t classes = targets.classes();
  std::array<float, kBlockPixels> weights = {}, factors = {}, log_sums = {};
  for (int64_t i = 0; i < count; ++i) {
    weights[i] = targets.AimSum(first + i);
    factors[i] = weights[i] * gradient_scale;
  }
  SoftmaxPixels(logits, count, classes, factors.data(), gradients, log_sums.data());
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (weights[i] == 0) continue;
    float* gradient = gradients == nullptr ? nullptr : gradients + i * classes;
    sum += FinishPixel(targets, first + i, logits + i * classes, log_sums[i], gradient_scale,
                       gradient);
  }
  return sum;
}

}  // namespace

int64_t OnednnOps::LossWorkspaceBytes(const LossShape& shape) const {
  return std::max(BlockCount(shape.logits) * static_cast<int64_t>(sizeof(double)),
                  DiceWorkspace::Bytes(shape.logits));
}

Status OnednnOps::LossWeight(Stream&, const LossCall& loss, double* weight_sum) {
  const Targets targets(loss);
  *weight_sum = SumOverBlocks(loss, [&](int64_t first, int64_t count) {
    double sum = 0;
    for (int64_t p = first; p < first + count; ++p) sum += targets.Weight(p);
    return sum;
  });
  return OkStatus();
}

Status OnednnOps::SoftmaxCrossEntropy(Stream&, const LossCall& loss, const void* logits,
                                      const double* total_weight, double* loss_sum, void* dlogits) {
  const Targets targets(loss);
  const int64_t classes = loss.shape.logits.c;
  const double scale = *total_weight > 0 ? loss.cross_entropy / *total_weight : 0.0;
  const double sum = SumOverBlocks(loss, [&](int64_t first, int64_t count) {
    const float* values = static_cast<const float*>(logits) + first * classes;
    float* gradients =
        dlogits == nullptr ? nullptr : static_cast<float*>(dlogits) + first * classes;
    return FinishBlock(targets, first, count, values, static_cast<float>(scale), gradients);
  });
  *loss_sum = loss.cross_entropy * sum;
  return OkStatus();
}

Status OnednnOps::Argmax(Stream&, const Shape& shape, const void* logits, LabelType type,
                         void* classes) {
  ParallelRanges(shape.Pixels(), 1024, [&](int64_t begin, int64_t end) {
    std::array<uint16_t, kBlockPixels> block;
    for (int64_t first = begin; first < end; first += kBlockPixels) {
      const int64_t count = std::min(kBlockPixels, end - first);
      const float* values = static_cast<const float*>(logits) + first * shape.c;
      ArgmaxPixels(values, count, shape.c, block.data());
      if (type == LabelType::kIndexU8) {
        std::copy_n(block.data(), count, static_cast<uint8_t*>(classes) + first);
      } else {
        std::copy_n(block.data(), count, static_cast<uint16_t*>(classes) + first);
      }
    }
  });
  return OkStatus();
}

}  // namespace shardmill
