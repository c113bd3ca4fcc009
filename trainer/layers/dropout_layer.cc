#include "trainer/layers/dropout_layer.h"

namespace shardmill {

DropoutCall DropoutLayer::Call() const {
  DropoutCall call = {shape_, keys_.Bits(context_->step), context_->first_row, drop_,
                      whole_channels_};
  if (context_->dropout_keys != nullptr) call.key_at = context_->dropout_keys + number_;
  return call;
}

Status DropoutLayer::Forward(Phase phase, const LayerTensors& tensors) {
  if (phase == Phase::kTraining) {
    return context_->ops->Dropout(*context_->stream, Call(), tensors.inputs[0], tensors.output);
  }
  if (tensors.inputs[0] == tensors.output) return OkStatus();
  return context_->ops->ActivationForward(*context_->stream, Activation::kNone, shape_.Elements(),
                                          tensors.inputs[0], tensors.output);
}

Status DropoutLayer::Backward(const LayerTensors&, const LayerGradients& gradients) {
  if (gradients.dinputs[0] == nullptr) return OkStatus();
  return context_->ops->Dropout(*context_->stream, Call(), gradients.doutput, gradients.dinputs[0]);
}

}  // namespace shardmill
