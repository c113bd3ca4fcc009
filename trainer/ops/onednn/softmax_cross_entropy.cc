#include <algorithm>
#include <array>

#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"
#include "trainer/ops/onednn/softmax_kernels.h"

namespace shardmill {
namespace {

constexpr int64_t kBlockPixels = 256;  // logits and gradients of a block stay in the cache

int64_t BlockCount(const Shape& logits) {
  return (logits.Pixels() + kBlockPixels - 1) / kBlockPixels;
}

// The labels of a batch as weighted targets. A pixel has either one target class, or (one-hot and
// soft labels) a row of shares.
class Targets {
 public:
  explicit Targets(const LossCall& loss)
      : loss_(loss),
        classes_(loss.shape.logits.c),
        image_pixels_(loss.shape.logits.h * loss.shape.logits.w) {}

  bool dense() const { return loss_.shape.label_type == LabelType::kOneHotF32; }
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
    const int64_t label = loss_.shape.label_type == LabelType::kIndexU8
                              ? static_cast<const uint8_t*>(loss_.labels)[pixel]
                              : static_cast<const uint16_t*>(loss_.labels)[pixel];
    return label < classes_ && label != loss_.shape.ignore ? label : -1;
  }
  float Weight(int64_t pixel) const {
    if (!dense()) {
      const int64_t k = Class(pixel);
      return k < 0 ? 0.0f : RowWeight(pixel) * ClassWeight(k);
    }
    float sum = 0;
    for (int64_t k = 0; k < classes_; ++k) sum += Shares(pixel)[k] * ClassWeight(k);
    return RowWeight(pixel) * sum;
  }

 private:
  const LossCall& loss_;
  int64_t classes_, image_pixels_;
};

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

// Subtracts the target from the gradient of one pixel and returns its loss.
double FinishPixel(const Targets& targets, int64_t pixel, int64_t classes, const float* logits,
                   float log_sum, float gradient_scale, float* gradient) {
  if (!targets.dense()) {
    const int64_t k = targets.Class(pixel);
    const float weight = targets.RowWeight(pixel) * targets.ClassWeight(k);
    if (gradient != nullptr) gradient[k] -= weight * gradient_scale;
    return static_cast<double>(weight) * (log_sum - logits[k]);
  }
  double loss = 0;
  for (int64_t k = 0; k < classes; ++k) {
    const float share =
        targets.Shares(pixel)[k] * targets.RowWeight(pixel) * targets.ClassWeight(k);
    if (share == 0) continue;
    if (gradient != nullptr) gradient[k] -= share * gradient_scale;
    loss += static_cast<double>(share) * (log_sum - logits[k]);
  }
  return loss;
}

// Loss and gradient (unless `gradients` is null) of a block of pixels.
double FinishBlock(const Targets& targets, int64_t first, int64_t count, int64_t classes,
                   const float* logits, float gradient_scale, float* gradients) {
  std::array<float, kBlockPixels> weights = {}, factors = {}, log_sums = {};
  for (int64_t i = 0; i < count; ++i) {
    weights[i] = targets.Weight(first + i);
    factors[i] = weights[i] * gradient_scale;
  }
  SoftmaxPixels(logits, count, classes, factors.data(), gradients, log_sums.data());
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (weights[i] == 0) continue;
    float* gradient = gradients == nullptr ? nullptr : gradients + i * classes;
    sum += FinishPixel(targets, first + i, classes, logits + i * classes, log_sums[i],
                       gradient_scale, gradient);
  }
  return sum;
}

}  // namespace

int64_t OnednnOps::LossWorkspaceBytes(const LossShape& shape) const {
  return BlockCount(shape.logits) * static_cast<int64_t>(sizeof(double));
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
  const float scale = *total_weight > 0 ? static_cast<float>(1 / *total_weight) : 0.0f;
  *loss_sum = SumOverBlocks(loss, [&](int64_t first, int64_t count) {
    const float* values = static_cast<const float*>(logits) + first * classes;
    float* gradients =
        dlogits == nullptr ? nullptr : static_cast<float*>(dlogits) + first * classes;
    return FinishBlock(targets, first, count, classes, values, scale, gradients);
  });
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
