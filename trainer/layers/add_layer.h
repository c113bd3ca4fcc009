// The sum of its inputs, then an activation; see kAdd in model_spec.h for inputs of unequal shape.
#pragma once

#include <vector>

#include "trainer/layers/layer.h"

namespace shardmill {

class AddLayer : public Layer {
 public:
  // REQUIRES: at least one shape; all have the same n, and no more channels than the first.
  AddLayer(const std::vector<Shape>& shapes, Activation activation, const LayerContext* context)
      : shapes_(shapes), activation_(activation), context_(context) {}

  Shape OutputShape() const override { return shapes_.front(); }
  // An input of another shape is brought to that of the output first.
  int64_t WorkspaceBytes() const override;
  bool BackwardReadsOutput() const override { return activation_ != Activation::kNone; }
  bool ForwardInPlace() const override { return true; }
  bool AddsGradients() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  bool FitsOutput(size_t input) const { return shapes_[input] == shapes_.front(); }
  Status AddInput(size_t input, const LayerTensors& tensors);
  // An input whose gradient is that behind the activation and lies in memory of its own, so that
  // the others can be given it from there; -1: there is none.
  int OwnGradient(const LayerGradients& gradients) const;
  Status GiveGradient(size_t input, const void* doutput, GradientMode mode, void* dinput);

  std::vector<Shape> shapes_;
  Activation activation_;
  const LayerContext* context_;
};

}  // namespace shardmill
