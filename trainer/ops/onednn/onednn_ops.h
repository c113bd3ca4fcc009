// The CPU backend: oneDNN for convolutions, own loops over all OpenMP threads for the rest.
//
// Sums are cut into pieces whose number depends on the shape only and are added in order, so the
// own operations give the same bits on any number of threads. oneDNN's weight gradients do not.
#pragma once

#include <cstdint>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>

#include "trainer/ops/host_ops.h"
#include "trainer/ops/onednn/onednn_backend.h"

namespace shardmill {

// The stream of oneDNN inside one of ours.
class OnednnStream : public Stream {
 public:
  explicit OnednnStream(const dnnl::engine& engine) : stream_(engine) {}
  Status Synchronize() override;
  dnnl::stream& get() { return stream_; }

 private:
  dnnl::stream stream_;
};

class OnednnOps : public HostOps {
 public:
  OnednnOps(const dnnl::engine& engine, ConvolutionPrecision precision)
      : engine_(engine), precision_(precision) {}

  std::string_view name() const override { return "onednn"; }
  ElementType element_type() const override { return ElementType::kF32; }
  int64_t threads() const override;
  Result<std::unique_ptr<Stream>> CreateStream() override;

  Status NormalizeImages(Stream& stream, const Shape& shape, ImageType type, const void* images,
                         const float* mean, const float* inverse_deviation, void* y) override;
  Result<std::unique_ptr<ConvolutionOp>> PrepareConvolution(const ConvolutionShape& shape) override;

  int64_t BatchNormWorkspaceBytes(const Shape& shape) const override;
  Status BatchNormStatistics(Stream& stream, const Shape& shape, const void* x, void* mean,
                             void* variance, void* workspace) override;
  Status BatchNormUpdateRunning(Stream& stream, int64_t channels, int64_t pixels, double momentum,
                                const void* mean, const void* variance, void* running_mean,
                                void* running_variance) override;
  Status BatchNormForward(Stream& stream, const BatchNormCall& norm, void* y) override;
  Status BatchNormBackwardSums(Stream& stream, const BatchNormCall& norm, const void* y,
                               const void* dy, void* dscale, void* dshift) override;
  Status BatchNormBackwardData(Stream& stream, const BatchNormCall& norm, const BatchNormSums& sums,
                               const void* y, const void* dy, void* dx) override;

  Status ActivationForward(Stream& stream, Activation activation, int64_t elements, const void* x,
                           void* y) override;
  Status ActivationBackward(Stream& stream, Activation activation, int64_t elements, const void* y,
                            const void* dy, void* dx) override;
  int64_t PreluWorkspaceBytes(const Shape& shape) const override;
  Status PreluForward(Stream& stream, const Shape& shape, const void* x, const void* slopes,
                      void* y) override;
  Status PreluBackward(Stream& stream, const Shape& shape, const void* x, const void* slopes,
                       const void* dy, void* dx, void* dslopes, void* workspace) override;
  Status Dropout(Stream& stream, const DropoutCall& dropout, const void* x, void* y) override;
  Status MaxPoolForward(Stream& stream, const PoolShape& shape, const void* x, void* y,
                        uint8_t* indices) override;
  Status MaxPoolBackward(Stream& stream, const PoolShape& shape, const void* dy,
                         const uint8_t* indices, GradientMode mode, void* dx) override;
  Status MaxPoolGather(Stream& stream, const PoolShape& shape, const void* x,
                       const uint8_t* indices, GradientMode mode, void* y) override;
  Status AveragePoolForward(Stream& stream, const PoolShape& shape, const void* x,
                            void* y) override;
  Status AveragePoolBackward(Stream& stream, const PoolShape& shape, const void* dy,
                             GradientMode mode, void* dx) override;
  Status UpsampleForward(Stream& stream, const UpsampleShape& shape, const void* x,
                         void* y) override;
  Status UpsampleBackward(Stream& stream, const UpsampleShape& shape, const void* dy,
                          GradientMode mode, void* dx) override;
  Status StatisticsPoolForward(Stream& stream, const Shape& shape, const int32_t* lengths,
                               const void* x, void* y) override;
  Status StatisticsPoolBackward(Stream& stream, const Shape& shape, const int32_t* lengths,
                                const void* x, const void* y, const void* dy, GradientMode mode,
                                void* dx) override;
  Status ZeroPadding(Stream& stream, const Shape& shape, const int32_t* lengths, void* x) override;
  Status GlobalAveragePoolForward(Stream& stream, const Shape& shape, const void* x,
                                  void* y) override;
  Status GlobalAveragePoolBackward(Stream& stream, const Shape& shape, const void* dy,
                                   GradientMode mode, void* dx) override;
  Status ConcatForward(Stream& stream, const Shape& whole, const ConcatPart* parts, int count,
                       void* y) override;
  Status ConcatBackward(Stream& stream, const Shape& whole, const ConcatPart* parts, int count,
                        const void* dy) override;
  Status Add(Stream& stream, int64_t elements, const void* x, void* y) override;

  int64_t LossWorkspaceBytes(const LossShape& shape) const override;
  Status LossWeight(Stream& stream, const LossCall& loss, double* weight_sum) override;
  Status SoftmaxCrossEntropy(Stream& stream, const LossCall& loss, const void* logits,
                             const double* total_weight, double* loss_sum, void* dlogits) override;
  Status TargetProbabilities(Stream& stream, const LossCall& loss, const void* logits,
                             float* probabilities) override;
  Status CountProbabilities(Stream& stream, int64_t pixels, const float* probabilities,
                            double* counts) override;
  Status AddDiceLoss(Stream& stream, const LossCall& loss, const void* logits,
                     const double* total_weight, double* loss_sum, void* dlogits) override;
  Status Argmax(Stream& stream, const Shape& shape, const void* logits, LabelType type,
                void* classes) override;

 private:
  dnnl::engine engine_;
  ConvolutionPrecision precision_;
};

}  // namespace shardmill
