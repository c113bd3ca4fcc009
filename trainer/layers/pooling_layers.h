// Pooling over windows, over whole images and over the frames of sequences, and max-unpooling.
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

// Puts each element of its input where a max pooling layer took a maximum, zeros elsewhere.
class MaxUnpoolLayer : public Layer {
 public:
  // `pool` is that of the pooling layer. REQUIRES: its windows do not overlap.
  MaxUnpoolLayer(const PoolShape& pool, const LayerContext* context)
      : pool_(pool), context_(context) {}

  Shape OutputShape() const override { return pool_.input; }
  bool AddsGradients() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  PoolShape pool_;
  const LayerContext* context_;
};

class AveragePoolLayer : public Layer {
 public:
  // REQUIRES: shape.Check() is OK.
  AveragePoolLayer(const PoolShape& shape, const LayerContext* context)
      : shape_(shape), context_(context) {}

  Shape OutputShape() const override { return shape_.Output(); }
  bool AddsGradients() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  PoolShape shape_;
  const LayerContext* context_;
};

class StatisticsPoolLayer : public Layer {
 public:
  // REQUIRES: the height is 1.
  StatisticsPoolLayer(const Shape& shape, const LayerContext* context)
      : shape_(shape), context_(context) {}

  Shape OutputShape() const override { return {shape_.n, 1, 1, 2 * shape_.c}; }
  bool BackwardReadsInputs() const override { return true; }
  bool BackwardReadsOutput() const override { return true; }
  bool AddsGradients() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  Status CheckFrames() const;
  const int32_t* Lengths() const { return context_->lengths; }

  Shape shape_;
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
