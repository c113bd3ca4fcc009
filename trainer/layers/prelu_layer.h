// ReLU with a trained slope per channel for what is not above zero.
#pragma once

#include "trainer/layers/layer.h"

namespace shardmill {

class PreluLayer : public Layer {
 public:
  PreluLayer(const Shape& shape, const LayerParameters& parameters, const LayerContext* context)
      : shape_(shape), slope_(parameters.slope), context_(context) {}

  Shape OutputShape() const override { return shape_; }
  int64_t WorkspaceBytes() const override { return context_->ops->PreluWorkspaceBytes(shape_); }
  bool BackwardReadsInputs() const override { return true; }
  bool BackwardInPlace() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  Shape shape_;
  int slope_;
  const LayerContext* context_;
};

}  // namespace shardmill
