// ReLU and ReLU6.
#pragma once

#include "trainer/layers/layer.h"

namespace shardmill {

class ReluLayer : public Layer {
 public:
  ReluLayer(const Shape& shape, Activation activation, const LayerContext* context)
      : shape_(shape), activation_(activation), context_(context) {}

  Shape OutputShape() const override { return shape_; }
  bool BackwardReadsOutput() const override { return true; }
  bool ForwardInPlace() const override { return true; }
  bool BackwardInPlace() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  Shape shape_;
  Activation activation_;
  const LayerContext* context_;
};

}  // namespace shardmill
