// Operations with a vector per channel: batch norm, PReLU.
#pragma once

#include <algorithm>

#include "trainer/cuda/kernels/batch_norm.h"
#include "trainer/cuda/kernels/channel_sums.h"
#include "trainer/cuda/ops/fold_slices.h"

namespace shardmill {

using MomentsFold = SliceFold<SliceMoments, Moments>;
using NormGradientFold = SliceFold<SliceSums<2>, Sums<2>>;
using VectorFold = SliceFold<SliceSums<1>, Sums<1>>;

// The workspace of a fold over the slices of a shape.
template <typename Fold, typename T>
int64_t FoldBytes(const Shape& shape) {
  WorkspaceParts measure(nullptr);
  Fold(SlicesToSum<T>(shape).slices, shape.c, &measure);
  return measure.bytes();
}

// vector[c] = sum over the pixels of x, for convolutions that have a bias.
template <typename T, typename Backend>
Status SumChannels(Backend& backend, Stream& stream, const Shape& shape, const T* x, float* vector,
                   void* workspace) {
  const ChannelSlices<T> slices = SlicesToSum<T>(shape);
  WorkspaceParts parts(workspace);
  const VectorFold fold(slices.slices, shape.c, &parts);
  const ChannelSumsKernel<T> kernel = {slices, x, fold.items};
  RETURN_IF_ERROR(backend.Launch(stream, slices.Calls(), kernel));
  return fold.Run(backend, stream, FinishVector{vector});
}

// y = activation(y + bias)
template <typename T, typename Backend>
Status AddBias(Backend& backend, Stream& stream, const Shape& shape, Activation activation,
               const float* bias, T* y) {
  const ChannelSlices<T> slices = SlicesToWrite<T>(shape);
  const AddBiasKernel<T> kernel = {slices, ActivationGate(activation), bias, y};
  return backend.Launch(stream, slices.Calls(), kernel);
}

template <typename Base>
class ChannelOps : public Base {
 public:
  using Base::Base;

  int64_t BatchNormWorkspaceBytes(const Shape& shape) const override {
    if (this->element_type() == ElementType::kF32) return NormBytes<float>(shape);
    return NormBytes<Bfloat16>(shape);
  }

  Status BatchNormStatistics(Stream& stream, const Shape& shape, const void* x, void* mean,
                             void* variance, void* workspace) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const ChannelSlices<T> slices = SlicesToSum<T>(shape);
      WorkspaceParts parts(workspace);
      const MomentsFold fold(slices.slices, shape.c, &parts);
      const SliceMomentsKernel<T> kernel = {slices, As<T>(x), fold.items};
      RETURN_IF_ERROR(this->Launch(stream, slices.Calls(), kernel));
      const FinishMoments<T> finish = {As<T>(x), As<float>(mean), As<float>(variance)};
      return fold.Run(*this, stream, finish);
    });
  }

  Status BatchNormUpdateRunning(Stream& stream, int64_t channels, int64_t pixels, double momentum,
                                const void* mean, const void* variance, void* running_mean,
                                void* running_variance) override {
    const double unbias = pixels > 1 ? static_cast<double>(pixels) / (pixels - 1) : 1.0;
    const UpdateRunningKernel kernel = {momentum,
                                        unbias,
                                        As<float>(mean),
                                        As<float>(variance),
                                        As<float>(running_mean),
                                        As<float>(running_variance)};
    return this->Launch(stream, channels, kernel);
  }

  Status BatchNormForward(Stream& stream, const BatchNormCall& norm, void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const NormInput<T> input = InputOf<T>(norm, SlicesToWrite<T>(norm.shape));
      const BatchNormForwardKernel<T> kernel = {input, As<T>(y)};
      return this->Launch(stream, input.slices.Calls(), kernel);
    });
  }

  Status FoldBatchNorm(Stream& stream, const BatchNormFold& fold, void* weights,
                       void* bias) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const FoldBatchNormKernel<T> kernel = {fold.channels,
                                             fold.weights_per_channel,
                                             static_cast<float>(fold.epsilon),
                                             As<float>(fold.weights),
                                             As<float>(fold.bias),
                                             As<float>(fold.mean),
                                             As<float>(fold.variance),
                                             As<float>(fold.scale),
                                             As<float>(fold.shift),
                                             As<T>(weights),
                                             As<float>(bias)};
      const int64_t elements = fold.channels * fold.weights_per_channel;
      return this->Launch(stream, GroupsOf<T>(elements), kernel);
    });
  }

  Status BatchNormBackwardSums(Stream& stream, const BatchNormCall& norm, const void*,
                               const void* dy, void* dscale, void* dshift) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const NormInput<T> input = InputOf<T>(norm, SlicesToSum<T>(norm.shape));
      WorkspaceParts parts(norm.workspace);
      const NormGradientFold fold(input.slices.slices, norm.shape.c, &parts);
      const NormGradientSumsKernel<T> kernel = {input, As<T>(dy), fold.items};
      RETURN_IF_ERROR(this->Launch(stream, input.slices.Calls(), kernel));
      return fold.Run(*this, stream, FinishNormGradients{As<float>(dscale), As<float>(dshift)});
    });
  }

  Status BatchNormBackwardData(Stream& stream, const BatchNormCall& norm, const BatchNormSums& sums,
                               const void*, const void* dy, void* dx) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const NormInput<T> input = InputOf<T>(norm, SlicesToWrite<T>(norm.shape));
      const BatchNormBackwardKernel<T> kernel = {input,
                                                 As<float>(sums.dscale),
                                                 As<float>(sums.dshift),
                                                 static_cast<float>(1.0 / sums.pixels),
                                                 As<T>(dy),
                                                 As<T>(dx)};
      return this->Launch(stream, input.slices.Calls(), kernel);
    });
  }

  int64_t PreluWorkspaceBytes(const Shape& shape) const override {
    if (this->element_type() == ElementType::kF32) return FoldBytes<VectorFold, float>(shape);
    return FoldBytes<VectorFold, Bfloat16>(shape);
  }

  Status PreluForward(Stream& stream, const Shape& shape, const void* x, const void* slopes,
                      void* y) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const ChannelSlices<T> slices = SlicesToWrite<T>(shape);
      const PreluForwardKernel<T> kernel = {slices, As<T>(x), As<float>(slopes), As<T>(y)};
      return this->Launch(stream, slices.Calls(), kernel);
    });
  }

  Status PreluBackward(Stream& stream, const Shape& shape, const void* x, const void* slopes,
                       const void* dy, void* dx, void* dslopes, void* workspace) override {
    return WithKernelType(this->element_type(), [&](auto zero) {
      using T = decltype(zero);
      const ChannelSlices<T> slices = SlicesToSum<T>(shape);
      WorkspaceParts parts(workspace);
      const VectorFold fold(slices.slices, shape.c, &parts);
      const PreluBackwardKernel<T> kernel = {slices,    As<T>(x),  As<float>(slopes),
                                             As<T>(dy), As<T>(dx), fold.items};
      RETURN_IF_ERROR(this->Launch(stream, slices.Calls(), kernel));
      return fold.Run(*this, stream, FinishVector{As<float>(dslopes)});
    });
  }

 private:
  template <typename T>
  static int64_t NormBytes(const Shape& shape) {
    return std::max(FoldBytes<MomentsFold, T>(shape), FoldBytes<NormGradientFold, T>(shape));
  }

  template <typename T>
  static NormInput<T> InputOf(const BatchNormCall& norm, const ChannelSlices<T>& slices) {
    return {slices,
            ActivationGate(norm.activation),
            static_cast<float>(norm.epsilon),
            As<T>(norm.x),
            As<float>(norm.mean),
            As<float>(norm.variance),
            As<float>(norm.scale),
            As<float>(norm.shift)};
  }
};

}  // namespace shardmill
