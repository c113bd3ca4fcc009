// Dropout of elements or of whole channels. What is dropped depends on the seed, the name of the
// layer, the step and the place in the global batch: not on ranks, micro-shards or threads.
#pragma once

#include <string>

#include "trainer/counter_random.h"
#include "trainer/layers/layer.h"

namespace shardmill {

class DropoutLayer : public Layer {
 public:
  DropoutLayer(const LayerSpec& spec, const Shape& shape, const LayerContext* context)
      : shape_(shape),
        drop_(spec.drop),
        whole_channels_(spec.whole_channels),
        keys_(context->seed, spec.name + "/dropout"),
        context_(context) {}

  Shape OutputShape() const override { return shape_; }
  bool ForwardInPlace() const override { return true; }
  bool BackwardInPlace() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  DropoutCall Call() const;

  Shape shape_;
  double drop_;
  bool whole_channels_;
  CounterRandom keys_;  // one per step
  const LayerContext* context_;
};

}  // namespace shardmill
