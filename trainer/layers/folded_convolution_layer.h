// A convolution and the batch norm behind it as one convolution, for evaluation: the running
// statistics and the scale are folded into weights and bias, anew in each forward, for training
// goes on in between and the weights are fewer than what they make of an image.
#pragma once

#include <memory>
#include <utility>

#include "trainer/layers/layer.h"

namespace shardmill {

class FoldedConvolutionLayer : public Layer {
 public:
  // `norm` has the parameters of the batch norm.
  static Result<std::unique_ptr<Layer>> Create(ConvolutionShape shape,
                                               const LayerParameters& convolution,
                                               const LayerParameters& norm,
                                               const LayerContext* context);

  Shape OutputShape() const override { return shape_.Output(); }
  int64_t WorkspaceBytes() const override { return op_->WorkspaceBytes(); }
  int64_t StateBytes() const override;  // the folded numbers
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  FoldedConvolutionLayer(const ConvolutionShape& shape, const LayerParameters& convolution,
                         const LayerParameters& norm, const LayerContext* context,
                         std::unique_ptr<ConvolutionOp> op)
      : shape_(shape),
        convolution_(convolution),
        norm_(norm),
        context_(context),
        op_(std::move(op)) {}

  BatchNormFold Fold() const;
  int64_t WeightBytes() const;  // aligned

  ConvolutionShape shape_;
  LayerParameters convolution_, norm_;
  const LayerContext* context_;
  std::unique_ptr<ConvolutionOp> op_;
};

}  // namespace shardmill
