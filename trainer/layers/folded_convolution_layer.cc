#include "trainer/layers/folded_convolution_layer.h"

namespace shardmill {

Result<std::unique_ptr<Layer>> FoldedConvolutionLayer::Create(ConvolutionShape shape,
                                                              const LayerParameters& convolution,
                                                              const LayerParameters& norm,
                                                              const LayerContext* context) {
  shape.bias = true;
  RETURN_IF_ERROR(shape.Check());
  ASSIGN_OR_RETURN(std::unique_ptr<ConvolutionOp> op, context->ops->PrepareConvolution(shape));
  return std::unique_ptr<Layer>(
      new FoldedConvolutionLayer(shape, convolution, norm, context, std::move(op)));
}

int64_t FoldedConvolutionLayer::WeightBytes() const {
  const int64_t bytes = shape_.WeightElements() * ElementBytes(context_->ops->element_type());
  return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

// Vectors per channel are f32 at least.
int64_t FoldedConvolutionLayer::StateBytes() const {
  const bool is_double = context_->ops->element_type() == ElementType::kF64;
  return WeightBytes() + shape_.out_channels * (is_double ? 8 : 4);
}

BatchNormFold FoldedConvolutionLayer::Fold() const {
  const ParameterStore& store = *context_->parameters;
  BatchNormFold fold;
  fold.channels = shape_.out_channels;
  fold.weights_per_channel = shape_.WeightElements() / shape_.out_channels;
  fold.epsilon = context_->batch_norm_epsilon;
  fold.weights = store.master_at(convolution_.weight);
  fold.bias = convolution_.bias < 0 ? nullptr : store.value_at(convolution_.bias);
  fold.mean = store.statistic_at(norm_.running_mean);
  fold.variance = store.statistic_at(norm_.running_variance);
  fold.scale = store.value_at(norm_.scale);
  fold.shift = store.value_at(norm_.shift);
  return fold;
}

Status FoldedConvolutionLayer::Forward(Phase phase, const LayerTensors& tensors) {
  SHARDMILL_CHECK(phase == Phase::kEvaluation);
  void* const weights = tensors.state;
  void* const bias = static_cast<char*>(tensors.state) + WeightBytes();
  Stream& stream = *context_->stream;
  RETURN_IF_ERROR(context_->ops->FoldBatchNorm(stream, Fold(), weights, bias));
  return op_->Forward(stream, tensors.inputs[0], weights, bias, tensors.output, tensors.workspace);
}

Status FoldedConvolutionLayer::Backward(const LayerTensors&, const LayerGradients&) {
  return InternalError("a folded convolution has no gradient");
}

}  // namespace shardmill
