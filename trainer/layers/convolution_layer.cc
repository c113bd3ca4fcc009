#include "trainer/layers/convolution_layer.h"

#include <utility>

namespace shardmill {

Result<std::unique_ptr<Layer>> ConvolutionLayer::Create(const ConvolutionShape& shape,
                                                        const LayerParameters& parameters,
                                                        const LayerContext* context) {
  RETURN_IF_ERROR(shape.Check());
  ASSIGN_OR_RETURN(std::unique_ptr<ConvolutionOp> op, context->ops->PrepareConvolution(shape));
  return std::unique_ptr<Layer>(
      new ConvolutionLayer(shape.Output(), parameters, context, std::move(op)));
}

Status ConvolutionLayer::Forward(Phase, const LayerTensors& tensors) {
  const ParameterStore& store = *context_->parameters;
  const void* bias = parameters_.bias < 0 ? nullptr : store.value_at(parameters_.bias);
  return op_->Forward(*context_->stream, tensors.inputs[0], store.value_at(parameters_.weight),
                      bias, tensors.output, tensors.workspace);
}

Status ConvolutionLayer::Backward(const LayerTensors& tensors, const LayerGradients& gradients) {
  const ParameterStore& store = *context_->parameters;
  void* dbias = parameters_.bias < 0 ? nullptr : store.gradient_at(parameters_.bias);
  RETURN_IF_ERROR(op_->BackwardWeights(*context_->stream, tensors.inputs[0], gradients.doutput,
                                       store.gradient_at(parameters_.weight), dbias,
                                       tensors.workspace));
  if (gradients.dinputs[0] == nullptr) return OkStatus();
  return op_->BackwardData(*context_->stream, gradients.doutput, store.value_at(parameters_.weight),
                           gradients.dinputs[0], tensors.workspace);
}

}  // namespace shardmill
