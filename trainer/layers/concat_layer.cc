#include "trainer/layers/concat_layer.h"

namespace shardmill {

ConcatLayer::ConcatLayer(const std::vector<Shape>& shapes, const LayerContext* context)
    : whole_(shapes.front()), context_(context) {
  whole_.c = 0;
  for (const Shape& shape : shapes) {
    ConcatPart part;
    part.shape = shape;
    parts_.push_back(part);
    whole_.c += shape.c;
  }
}

ConcatLayer::ConcatLayer(const Shape& shape, const Shape& size, const LayerContext* context)
    : ConcatLayer({shape}, context) {
  whole_.h = size.h;
  whole_.w = size.w;
}

Status ConcatLayer::Forward(Phase, const LayerTensors& tensors) {
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i].x = tensors.inputs[i];
  return context_->ops->ConcatForward(*context_->stream, whole_, parts_.data(),
                                      static_cast<int>(parts_.size()), tensors.output);
}

Status ConcatLayer::Backward(const LayerTensors&, const LayerGradients& gradients) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].dx = gradients.dinputs[i];
    parts_[i].mode = gradients.modes[i];
  }
  return context_->ops->ConcatBackward(*context_->stream, whole_, parts_.data(),
                                       static_cast<int>(parts_.size()), gradients.doutput);
}

}  // namespace shardmill
