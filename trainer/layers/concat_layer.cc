#include "trainer/layers/concat_layer.h"

namespace shardmill {

ConcatLayer::ConcatLayer(std::vector<Shape> parts, const LayerContext* context)
    : parts_(std::move(parts)), context_(context) {
  whole_ = parts_.front();
  whole_.c = 0;
  for (const Shape& part : parts_) whole_.c += part.c;
}

Status ConcatLayer::Forward(Phase, const LayerTensors& tensors) {
  int64_t channel = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    RETURN_IF_ERROR(context_->ops->ConcatForward(*context_->stream, parts_[i], whole_, channel,
                                                 tensors.inputs[i], tensors.output));
    channel += parts_[i].c;
  }
  return OkStatus();
}

Status ConcatLayer::Backward(const LayerTensors&, const LayerGradients& gradients) {
  int64_t channel = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (gradients.dinputs[i] != nullptr) {
      RETURN_IF_ERROR(context_->ops->ConcatBackward(*context_->stream, parts_[i], whole_, channel,
                                                    gradients.doutput, gradients.modes[i],
                                                    gradients.dinputs[i]));
    }
    channel += parts_[i].c;
  }
  return OkStatus();
}

}  // namespace shardmill
