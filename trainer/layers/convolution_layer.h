// Convolution or transposed convolution, with or without bias; also the linear layer.
#pragma once

#include <memory>

#include "trainer/layers/layer.h"

namespace shardmill {

class ConvolutionLayer : public Layer {
 public:
  static Result<std::unique_ptr<Layer>> Create(const ConvolutionShape& shape,
                                               const LayerParameters& parameters,
                                               const LayerContext* context);

  Shape OutputShape() const override { return output_; }
  int64_t WorkspaceBytes() const override { return op_->WorkspaceBytes(); }
  bool BackwardReadsInputs() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  ConvolutionLayer(const Shape& output, const LayerParameters& parameters,
                   const LayerContext* context, std::unique_ptr<ConvolutionOp> op)
      : output_(output), parameters_(parameters), context_(context), op_(std::move(op)) {}

  Shape output_;
  LayerParameters parameters_;
  const LayerContext* context_;
  std::unique_ptr<ConvolutionOp> op_;
};

}  // namespace shardmill
