#include "trainer/layers/prelu_layer.h"

namespace shardmill {

Status PreluLayer::Forward(Phase, const LayerTensors& tensors) {
  return context_->ops->PreluForward(*context_->stream, shape_, tensors.inputs[0],
                                     context_->parameters->value_at(slope_), tensors.output);
}

Status PreluLayer::Backward(const LayerTensors& tensors, const LayerGradients& gradients) {
  return context_->ops->PreluBackward(*context_->stream, shape_, tensors.inputs[0],
                                      context_->parameters->value_at(slope_), gradients.doutput,
                                      gradients.dinputs[0],
                                      context_->parameters->gradient_at(slope_), tensors.workspace);
}

}  // namespace shardmill
