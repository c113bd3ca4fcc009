// Concatenation of channels; see kConcat in model_spec.h for inputs of unequal size.
#pragma once

#include <utility>
#include <vector>

#include "trainer/layers/layer.h"

namespace shardmill {

class ConcatLayer : public Layer {
 public:
  // REQUIRES: at least one part; all parts have the same n.
  ConcatLayer(std::vector<Shape> parts, const LayerContext* context);

  Shape OutputShape() const override { return whole_; }
  bool AddsGradients() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  std::vector<Shape> parts_;
  Shape whole_;
  const LayerContext* context_;
};

}  // namespace shardmill
