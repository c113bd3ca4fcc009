// Losses and predictions.
#pragma once

#include "trainer/cuda/kernels/cross_entropy.h"
#include "trainer/cuda/kernels/dice.h"
#include "trainer/cuda/ops/fold_slices.h"

namespace shardmill {

using LossFold = SliceFold<double, DoubleSum>;

// The workspace of the Dice loss.
struct DiceWorkspace {
  static int64_t Slices(const Shape& logits) {
    return SlicesFor(logits.h * logits.w, logits.n * logits.c, kDiceSlicePixels);
  }

  DiceWorkspace(const Shape& logits, void* memory)
      : parts(memory),
        fold(Slices(logits), logits.n * logits.c, &parts),
        logs(parts.Take<float>(logits.Pixels())),
        sums(parts.Take<Sums<kDiceSums>>(logits.n * logits.c)),
        losses(parts.Take<double>(logits.n)),
        weights(parts.Take<double>(logits.n)) {}

  WorkspaceParts parts;
  SliceFold<SliceSums<kDiceSums>, Sums<kDiceSums>> fold;
  float* logs;  // per pixel the logarithm of the sum of the exponentials
  Sums<kDiceSums>* sums;
  double* losses;
  double* weights;
};

template <typename Base>
class LossOps : public Base {
 public:
  using Base::Base;

  int64_t LossWorkspaceBytes(const LossShape& shape) const override {
    WorkspaceParts measure(nullptr);
    LossFold(LossSlices(shape.logits.Pixels()), 1, &measure);
    return Larger(measure.bytes(), DiceWorkspace(shape.logits, nullptr).parts.bytes());
  }

  Status LossWeight(Stream& stream, const LossCall& loss, double* weight_sum) override {
    const int64_t pixels = loss.shape.logits.Pixels();
    WorkspaceParts parts(loss.workspace);
    const LossFold fold(LossSlices(pixels), 1, &parts);
    const LossWeightKernel kernel = {TargetsOf(loss), pixels, fold.slices, fold.items};
    RETURN_IF_ERROR(this->Launch(stream, fold.slices, kernel));
    return fold.Run(*this, stream, FinishScaledSum{1, weight_sum});
  }

  Status SoftmaxCrossEntropy(Stream& stream, const LossCall& loss, const void* logits,
                             const double* total_weight, double* loss_sum, void* dlogits) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const int64_t pixels = loss.shape.logits.Pixels();
      WorkspaceParts parts(loss.workspace);
      const LossFold fold(LossSlices(pixels), 1, &parts);
      const CrossEntropyKernel<T> kernel = {TargetsOf(loss),    pixels,        fold.slices,
                                            loss.cross_entropy, As<T>(logits), total_weight,
                                            fold.items,         As<T>(dlogits)};
      RETURN_IF_ERROR(this->Launch(stream, fold.slices, kernel));
      return fold.Run(*this, stream, FinishScaledSum{loss.cross_entropy, loss_sum});
    });
  }

  Status TargetProbabilities(Stream& stream, const LossCall& loss, const void* logits,
                             float* probabilities) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      LossCall all = loss;
      all.probabilities = nullptr;
      const TargetProbabilityKernel<T> kernel = {TargetsOf(all), As<T>(logits), probabilities};
      return this->Launch(stream, loss.shape.logits.Pixels(), kernel);
    });
  }

  Status CountProbabilities(Stream& stream, int64_t pixels, const float* probabilities,
                            double* counts) override {
    RETURN_IF_ERROR(
        this->SetZero(stream, kProbabilityBins * static_cast<int64_t>(sizeof(double)), counts));
    const CountProbabilitiesKernel kernel = {pixels, kProbabilityBins, probabilities, counts};
    return this->Launch(stream, CeilDivide(pixels, CountProbabilitiesKernel::kRun), kernel);
  }

  Status AddDiceLoss(Stream& stream, const LossCall& loss, const void* logits,
                     const double* total_weight, double* loss_sum, void* dlogits) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const Shape& shape = loss.shape.logits;
      const PixelTargets targets = TargetsOf(loss);
      const DiceWorkspace work(shape, loss.workspace);
      RETURN_IF_ERROR(this->Launch(stream, shape.Pixels(),
                                   LogOfSumKernel<T>{shape.c, As<T>(logits), work.logs}));
      RETURN_IF_ERROR(SumDice(stream, targets, shape.n, As<T>(logits), work));
      RETURN_IF_ERROR(this->Launch(stream, shape.n,
                                   DiceImageKernel{shape.c, work.sums, work.losses, work.weights}));
      RETURN_IF_ERROR(
          this->Launch(stream, 1, DiceLossKernel{shape.n, loss.dice, work.losses, loss_sum}));
      if (dlogits == nullptr) return OkStatus();
      const DiceGradientKernel<T> kernel = {targets,   loss.dice,    As<T>(logits), work.logs,
                                            work.sums, work.weights, total_weight,  As<T>(dlogits)};
      return this->Launch(stream, shape.Pixels(), kernel);
    });
  }

  Status Argmax(Stream& stream, const Shape& shape, const void* logits, LabelType type,
                void* classes) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const ArgmaxKernel<T> kernel = {shape.c, As<T>(logits), type, classes};
      return this->Launch(stream, shape.Pixels(), kernel);
    });
  }

 private:
  template <typename T>
  Status SumDice(Stream& stream, const PixelTargets& targets, int64_t images, const T* logits,
                 const DiceWorkspace& work) {
    const DiceSumsKernel<T> kernel = {targets, images,    work.fold.slices,
                                      logits,  work.logs, work.fold.items};
    RETURN_IF_ERROR(this->Launch(stream, work.fold.slices * work.fold.columns, kernel));
    return work.fold.Run(*this, stream, FinishDiceSums{work.sums});
  }

  static PixelTargets TargetsOf(const LossCall& loss) {
    const Shape& logits = loss.shape.logits;
    return {logits.c,
            logits.h * logits.w,
            loss.shape.label_type,
            loss.shape.ignore,
            loss.labels,
            loss.class_weights,
            loss.row_weights,
            static_cast<float>(loss.label_smoothing),
            loss.probabilities,
            loss.probability_limit};
  }
};

}  // namespace shardmill
