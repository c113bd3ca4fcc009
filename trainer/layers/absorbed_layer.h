// A layer whose forward pass the convolution before it has done. The graph gives it the memory of
// the convolution's output as its own.
#pragma once

#include <memory>
#include <utility>

#include "trainer/layers/layer.h"

namespace shardmill {

class AbsorbedLayer : public Layer {
 public:
  // REQUIRES: backward of `layer` reads none of its inputs.
  explicit AbsorbedLayer(std::unique_ptr<Layer> layer) : layer_(std::move(layer)) {}

  Shape OutputShape() const override { return layer_->OutputShape(); }
  bool BackwardReadsOutput() const override { return layer_->BackwardReadsOutput(); }
  bool ForwardInPlace() const override { return true; }
  bool BackwardInPlace() const override { return layer_->BackwardInPlace(); }
  bool AddsGradients() const override { return layer_->AddsGradients(); }
  Status Forward(Phase, const LayerTensors&) override { return OkStatus(); }
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override {
    return layer_->Backward(tensors, gradients);
  }

 private:
  std::unique_ptr<Layer> layer_;
};

}  // namespace shardmill
