#pragma once

#include "trainer/layers/layer.h"

namespace shardmill {

class UpsampleLayer : public Layer {
 public:
  // REQUIRES: shape.Check() is OK.
  UpsampleLayer(const UpsampleShape& shape, const LayerContext* context)
      : shape_(shape), context_(context) {}

  Shape OutputShape() const override { return shape_.Output(); }
  bool AddsGradients() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  UpsampleShape shape_;
  const LayerContext* context_;
};

}  // namespace shardmill
