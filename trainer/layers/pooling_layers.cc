#include "trainer/layers/pooling_layers.h"

namespace shardmill {

Status MaxPoolLayer::Forward(Phase, const LayerTensors& tensors) {
  return context_->ops->MaxPoolForward(*context_->stream, shape_, tensors.inputs[0], tensors.output,
                                       static_cast<uint8_t*>(tensors.state));
}

Status MaxPoolLayer::Backward(const LayerTensors& tensors, const LayerGradients& gradients) {
  if (gradients.dinputs[0] == nullptr) return OkStatus();
  return context_->ops->MaxPoolBackward(*context_->stream, shape_, gradients.doutput,
                                        static_cast<const uint8_t*>(tensors.state),
                                        gradients.modes[0], gradients.dinputs[0]);
}

Status GlobalAveragePoolLayer::Forward(Phase, const LayerTensors& tensors) {
  return context_->ops->GlobalAveragePoolForward(*context_->stream, shape_, tensors.inputs[0],
                                                 tensors.output);
}

Status GlobalAveragePoolLayer::Backward(const LayerTensors&, const LayerGradients& gradients) {
  if (gradients.dinputs[0] == nullptr) return OkStatus();
  return context_->ops->GlobalAveragePoolBackward(*context_->stream, shape_, gradients.doutput,
                                                  gradients.modes[0], gradients.dinputs[0]);
}

}  // namespace shardmill
