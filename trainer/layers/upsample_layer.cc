#include "trainer/layers/upsample_layer.h"

namespace shardmill {

Status UpsampleLayer::Forward(Phase, const LayerTensors& tensors) {
  return context_->ops->UpsampleForward(*context_->stream, shape_, tensors.inputs[0],
                                        tensors.output);
}

Status UpsampleLayer::Backward(const LayerTensors&, const LayerGradients& gradients) {
  if (gradients.dinputs[0] == nullptr) return OkStatus();
  return context_->ops->UpsampleBackward(*context_->stream, shape_, gradients.doutput,
                                         gradients.modes[0], gradients.dinputs[0]);
}

}  // namespace shardmill
