#include "trainer/layers/pooling_layers.h"

#include <string>

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

Status MaxUnpoolLayer::Forward(Phase, const LayerTensors& tensors) {
  return context_->ops->MaxPoolBackward(*context_->stream, pool_, tensors.inputs[0],
                                        static_cast<const uint8_t*>(tensors.pool_state),
                                        GradientMode::kOverwrite, tensors.output);
}

Status MaxUnpoolLayer::Backward(const LayerTensors& tensors, const LayerGradients& gradients) {
  if (gradients.dinputs[0] == nullptr) return OkStatus();
  return context_->ops->MaxPoolGather(*context_->stream, pool_, gradients.doutput,
                                      static_cast<const uint8_t*>(tensors.pool_state),
                                      gradients.modes[0], gradients.dinputs[0]);
}

Status AveragePoolLayer::Forward(Phase, const LayerTensors& tensors) {
  return context_->ops->AveragePoolForward(*context_->stream, shape_, tensors.inputs[0],
                                           tensors.output);
}

Status AveragePoolLayer::Backward(const LayerTensors&, const LayerGradients& gradients) {
  if (gradients.dinputs[0] == nullptr) return OkStatus();
  return context_->ops->AveragePoolBackward(*context_->stream, shape_, gradients.doutput,
                                            gradients.modes[0], gradients.dinputs[0]);
}

Status StatisticsPoolLayer::CheckFrames() const {
  if (context_->lengths == nullptr || context_->IsPadded(shape_)) return OkStatus();
  return InvalidArgumentError("statistics pooling gets " + std::to_string(shape_.w) +
                              " frames of padded sequences of " + std::to_string(context_->frames) +
                              "; the layers before it must keep the number of frames");
}

Status StatisticsPoolLayer::Forward(Phase, const LayerTensors& tensors) {
  RETURN_IF_ERROR(CheckFrames());
  return context_->ops->StatisticsPoolForward(*context_->stream, shape_, Lengths(),
                                              tensors.inputs[0], tensors.output);
}

Status StatisticsPoolLayer::Backward(const LayerTensors& tensors, const LayerGradients& gradients) {
  if (gradients.dinputs[0] == nullptr) return OkStatus();
  return context_->ops->StatisticsPoolBackward(*context_->stream, shape_, Lengths(),
                                               tensors.inputs[0], tensors.output, gradients.doutput,
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
