// Max pooling over windows, and average pooling over whole images.
#pragma once

#include "trainer/layers/layer.h"

namespace shardmill {

class MaxPoolLayer : public Layer {
 public:
  // REQUIRES: shape.Check() is OK.
  MaxPoolLayer(const PoolShape& shape, const LayerContext* context)
      : shape_(shape), context_(context) {}

  Shape OutputShape() const override { return shape_.Output(); }
  // The position of each maximum in its window.
  int64_t StateBytes() const override { return shape_.Output().Elements(); }
  bool AddsGradients() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  PoolShape shape_;
  const LayerContext* context_;
};

class GlobalAveragePoolLayer : public Layer {
 public:
  GlobalAveragePoolLayer(const Shape& shape, const LayerContext* context)
      : shape_(shape), context_(context) {}

  Shape OutputShape() const override { return {shape_.n, 1, 1, shape_.c}; }
  bool AddsGradients() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  Shape shape_;
  const LayerContext* context_;
};

}  // namespace shardmill
