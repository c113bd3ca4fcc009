// Concatenation of channels; see kConcat in model_spec.h for inputs of unequal size.
#pragma once

#include <vector>

#include "trainer/layers/layer.h"

namespace shardmill {

class ConcatLayer : public Layer {
 public:
  // REQUIRES: at least one shape; all have the same n.
  ConcatLayer(const std::vector<Shape>& shapes, const LayerContext* context);
  // Of one input, cropped to height and width of `size`.
  ConcatLayer(const Shape& shape, const Shape& size, const LayerContext* context);

  Shape OutputShape() const override { return whole_; }
  bool AddsGradients() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  std::vector<ConcatPart> parts_;  // addresses are set by each run
  Shape whole_;
  const LayerContext* context_;
};

}  // namespace shardmill
