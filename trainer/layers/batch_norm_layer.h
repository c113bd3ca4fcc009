// Batch normalisation over all pixels of a batch, with the activation behind it.
#pragma once

#include "trainer/layers/layer.h"

namespace shardmill {

class BatchNormLayer : public Layer {
 public:
  BatchNormLayer(const Shape& shape, Activation activation, const LayerParameters& parameters,
                 const LayerContext* context)
      : shape_(shape), activation_(activation), parameters_(parameters), context_(context) {}

  Shape OutputShape() const override { return shape_; }
  int64_t WorkspaceBytes() const override { return context_->ops->BatchNormWorkspaceBytes(shape_); }
  int64_t StateBytes() const override;  // mean and variance of the batch
  bool BackwardReadsInputs() const override { return true; }
  bool BackwardReadsOutput() const override { return activation_ != Activation::kNone; }
  bool ForwardInPlace() const override { return true; }
  bool BackwardInPlace() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  // The call with everything but mean and variance.
  BatchNormCall Call(const LayerTensors& tensors) const;
  void* BatchVariance(void* state) const;

  Shape shape_;
  Activation activation_;
  LayerParameters parameters_;
  const LayerContext* context_;
};

}  // namespace shardmill
