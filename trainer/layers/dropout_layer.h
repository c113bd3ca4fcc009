// Dropout of elements or of whole channels. What is dropped depends on the seed, the name of the
// layer, the step and the place in the global batch: not on ranks, micro-shards or threads.
#pragma once

#include <string>

#include "trainer/graph/counter_random.h"
#include "trainer/layers/layer.h"

namespace shardmill {

class DropoutLayer : public Layer {
 public:
  DropoutLayer(const LayerSpec& spec, int number, const Shape& shape, const LayerContext* context)
      : shape_(shape),
        number_(number),
        drop_(spec.drop),
        whole_channels_(spec.whole_channels),
        keys_(KeysOf(context->seed, spec.name)),
        context_(context) {}

  // One key per step.
  static CounterRandom KeysOf(uint64_t seed, const std::string& name) {
    return CounterRandom(seed, name + "/dropout");
  }

  Shape OutputShape() const override { return shape_; }
  bool ForwardInPlace() const override { return true; }
  bool BackwardInPlace() const override { return true; }
  Status Forward(Phase phase, const LayerTensors& tensors) override;
  Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) override;

 private:
  DropoutCall Call() const;

  Shape shape_;
  int number_;
  double drop_;
  bool whole_channels_;
  CounterRandom keys_;
  const LayerContext* context_;
};

}  // namespace shardmill
