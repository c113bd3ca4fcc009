#include <algorithm>
#include <array>

#include "trainer/ops/onednn/dice_workspace.h"
#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"
#include "trainer/ops/onednn/softmax_kernels.h"
#include "trainer/ops/onednn/targets.h"

namespace shardmill {
namespace {

constexpr int64_t kChunk = DiceWorkspace::kChunkPixels;

class DiceLoss {
 public:
  DiceLoss(const LossCall& loss, const float* logits)
      : shape_(loss.shape.logits),
        targets_(loss),
        logits_(logits),
        workspace_(shape_, loss.workspace) {}

  void SumBlocks() {
    const int64_t blocks = DiceWorkspace::Blocks(shape_);
    ParallelFor(shape_.n * blocks, [&](int64_t item, int64_t thread) {
      SumBlock(item / blocks, item % blocks, thread);
    });
    for (int64_t n = 0; n < shape_.n; ++n) {
      double* whole = workspace_.Sums(n, 0);
      for (int64_t b = 1; b < blocks; ++b) {
        const double* part = workspace_.Sums(n, b);
        for (int64_t i = 0; i < workspace_.sums_per_block(); ++i) whole[i] += part[i];
      }
    }
  }

  // W * (1 - mean over the classes) of one image. REQUIRES: SumBlocks.
  double LossOf(int64_t image) const {
    double mean = 0;
    for (int64_t k = 0; k < shape_.c; ++k) mean += Numerator(image, k) / Denominator(image, k);
    return WeightOf(image) * (1 - mean / static_cast<double>(shape_.c));
  }

  void AddGradients(double scale, float* dlogits) {
    const int64_t blocks = DiceWorkspace::Blocks(shape_);
    ParallelFor(shape_.n * blocks, [&](int64_t item, int64_t thread) {
      const int64_t image = item / blocks;
      float* probabilities = workspace_.Chunk(thread);
      const double factor = -scale * WeightOf(image) / static_cast<double>(shape_.c);
      workspace_.ForEachChunk(image, item % blocks, [&](int64_t first, int64_t count) {
        Softmax(first, count, probabilities);
        for (int64_t i = 0; i < count; ++i) {
          AddGradient(image, first + i, factor, probabilities + i * shape_.c,
                      dlogits + (first + i) * shape_.c);
        }
      });
    });
  }

 private:
  void Softmax(int64_t first, int64_t count, float* probabilities) const {
    std::array<float, kChunk> ones, log_sums;
    ones.fill(1.0f);
    SoftmaxPixels(logits_ + first * shape_.c, count, shape_.c, ones.data(), probabilities,
                  log_sums.data());
  }

  float ShareOf(int64_t pixel, int64_t k) const {
    if (targets_.dense()) return targets_.Shares(pixel)[k];
    return targets_.Class(pixel) == k ? 1.0f : 0.0f;
  }

  void SumBlock(int64_t image, int64_t block, int64_t thread) {
    double* sums = workspace_.Sums(image, block);
    std::fill_n(sums, workspace_.sums_per_block(), 0.0);
    float* probabilities = workspace_.Chunk(thread);
    workspace_.ForEachChunk(image, block, [&](int64_t first, int64_t count) {
      Softmax(first, count, probabilities);
      for (int64_t i = 0; i < count; ++i) AddPixel(first + i, probabilities + i * shape_.c, sums);
    });
  }

  void AddPixel(int64_t pixel, const float* probabilities, double* sums) const {
    const float all = targets_.ShareSum(pixel);
    if (all == 0) return;
    const int64_t classes = shape_.c;
    for (int64_t k = 0; k < classes; ++k) {
      const double share = ShareOf(pixel, k);
      sums[k] += share * probabilities[k];
      sums[classes + k] += static_cast<double>(all) * probabilities[k];
      sums[2 * classes + k] += share;
    }
    sums[3 * classes] += targets_.Weight(pixel);
  }

  void AddGradient(int64_t image, int64_t pixel, double factor, const float* probabilities,
                   float* dlogits) const {
    const double all = targets_.ShareSum(pixel);
    if (all == 0 || factor == 0) return;
    const auto by_probability = [&](int64_t k) {
      const double numerator = Numerator(image, k), denominator = Denominator(image, k);
      return factor * (2 * ShareOf(pixel, k) * denominator - all * numerator) /
             (denominator * denominator);
    };
    double mean = 0;
    for (int64_t k = 0; k < shape_.c; ++k) mean += by_probability(k) * probabilities[k];
    for (int64_t k = 0; k < shape_.c; ++k) {
      dlogits[k] += static_cast<float>(probabilities[k] * (by_probability(k) - mean));
    }
  }

  double Numerator(int64_t image, int64_t k) const { return 2 * workspace_.Sums(image, 0)[k] + 1; }
  double Denominator(int64_t image, int64_t k) const {
    const double* sums = workspace_.Sums(image, 0);
    return sums[shape_.c + k] + sums[2 * shape_.c + k] + 1;
  }
  double WeightOf(int64_t image) const { return workspace_.Sums(image, 0)[3 * shape_.c]; }

  Shape shape_;
  Targets targets_;
  const float* logits_;
  DiceWorkspace workspace_;
};

}  // namespace

Status OnednnOps::AddDiceLoss(Stream&, const LossCall& loss, const void* logits,
                              const double* total_weight, double* loss_sum, void* dlogits) {
  DiceLoss dice(loss, static_cast<const float*>(logits));
  dice.SumBlocks();
  double sum = 0;
  for (int64_t n = 0; n < loss.shape.logits.n; ++n) sum += dice.LossOf(n);
  *loss_sum += loss.dice * sum;
  if (dlogits != nullptr && *total_weight > 0) {
    dice.AddGradients(loss.dice / *total_weight, static_cast<float*>(dlogits));
  }
  return OkStatus();
}

}  // namespace shardmill
