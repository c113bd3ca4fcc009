#include "trainer/layers/relu_layer.h"

namespace shardmill {

Status ReluLayer::Forward(Phase, const LayerTensors& tensors) {
  return context_->ops->ActivationForward(*context_->stream, activation_, shape_.Elements(),
                                          tensors.inputs[0], tensors.output);
}

Status ReluLayer::Backward(const LayerTensors& tensors, const LayerGradients& gradients) {
  if (gradients.dinputs[0] == nullptr) return OkStatus();
  return context_->ops->ActivationBackward(*context_->stream, activation_, shape_.Elements(),
                                           tensors.output, gradients.doutput, gradients.dinputs[0]);
}

}  // namespace shardmill
