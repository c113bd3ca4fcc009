#include "trainer/layers/add_layer.h"

#include <algorithm>

namespace shardmill {

int64_t AddLayer::WorkspaceBytes() const {
  bool all_fit = true;
  for (size_t i = 0; i < shapes_.size(); ++i) all_fit = all_fit && FitsOutput(i);
  if (all_fit && activation_ == Activation::kNone) return 0;
  return OutputShape().Elements() * ElementBytes(context_->ops->element_type());
}

Status AddLayer::AddInput(size_t input, const LayerTensors& tensors) {
  OpTable& ops = *context_->ops;
  const Shape whole = OutputShape();
  const void* addend = tensors.inputs[input];
  if (!FitsOutput(input)) {
    const int64_t bytes = whole.Elements() * ElementBytes(ops.element_type());
    ConcatPart part;
    part.shape = shapes_[input];
    part.x = addend;
    RETURN_IF_ERROR(ops.SetZero(*context_->stream, bytes, tensors.workspace));
    RETURN_IF_ERROR(ops.ConcatForward(*context_->stream, whole, &part, 1, tensors.workspace));
    addend = tensors.workspace;
  }
  return ops.Add(*context_->stream, whole.Elements(), addend, tensors.output);
}

Status AddLayer::Forward(Phase, const LayerTensors& tensors) {
  OpTable& ops = *context_->ops;
  const int64_t elements = OutputShape().Elements();
  RETURN_IF_ERROR(ops.ActivationForward(*context_->stream, Activation::kNone, elements,
                                        tensors.inputs[0], tensors.output));
  for (size_t i = 1; i < shapes_.size(); ++i) RETURN_IF_ERROR(AddInput(i, tensors));
  if (activation_ == Activation::kNone) return OkStatus();
  return ops.ActivationForward(*context_->stream, activation_, elements, tensors.output,
                               tensors.output);
}

Status AddLayer::GiveGradient(size_t input, const void* doutput, GradientMode mode, void* dinput) {
  OpTable& ops = *context_->ops;
  if (!FitsOutput(input)) {
    ConcatPart part;
    part.shape = shapes_[input];
    part.dx = dinput;
    part.mode = mode;
    return ops.ConcatBackward(*context_->stream, OutputShape(), &part, 1, doutput);
  }
  const int64_t elements = OutputShape().Elements();
  if (mode == GradientMode::kAdd) return ops.Add(*context_->stream, elements, doutput, dinput);
  return ops.ActivationForward(*context_->stream, Activation::kNone, elements, doutput, dinput);
}

int AddLayer::OwnGradient(const LayerGradients& gradients) const {
  const int count = static_cast<int>(shapes_.size());
  for (int i = 0; i < count; ++i) {
    void* const own = gradients.dinputs[i];
    const bool shared = std::count(gradients.dinputs, gradients.dinputs + count, own) > 1;
    const bool replaced = gradients.modes[i] == GradientMode::kOverwrite;
    if (own != nullptr && !shared && replaced && FitsOutput(i)) return i;
  }
  return -1;
}

Status AddLayer::Backward(const LayerTensors& tensors, const LayerGradients& gradients) {
  const void* doutput = gradients.doutput;
  int done = -1;
  if (activation_ != Activation::kNone) {
    done = OwnGradient(gradients);
    void* behind_activation = done < 0 ? tensors.workspace : gradients.dinputs[done];
    RETURN_IF_ERROR(context_->ops->ActivationBackward(*context_->stream, activation_,
                                                      OutputShape().Elements(), tensors.output,
                                                      doutput, behind_activation));
    doutput = behind_activation;
  }
  for (size_t i = 0; i < shapes_.size(); ++i) {
    if (gradients.dinputs[i] == nullptr || static_cast<int>(i) == done) continue;
    RETURN_IF_ERROR(GiveGradient(i, doutput, gradients.modes[i], gradients.dinputs[i]));
  }
  return OkStatus();
}

}  // namespace shardmill
