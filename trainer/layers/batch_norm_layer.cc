#include "trainer/layers/batch_norm_layer.h"

namespace shardmill {
namespace {

int64_t AlignedBytes(int64_t bytes) {
  return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

}  // namespace

int64_t BatchNormLayer::StateBytes() const {
  return 2 * AlignedBytes(shape_.c * ElementBytes(context_->ops->element_type()));
}

void* BatchNormLayer::BatchVariance(void* state) const {
  return static_cast<char*>(state) + StateBytes() / 2;
}

BatchNormCall BatchNormLayer::Call(const LayerTensors& tensors) const {
  BatchNormCall call;
  call.shape = shape_;
  call.activation = activation_;
  call.epsilon = context_->batch_norm_epsilon;
  call.x = tensors.inputs[0];
  call.scale = context_->parameters->value_at(parameters_.scale);
  call.shift = context_->parameters->value_at(parameters_.shift);
  call.workspace = tensors.workspace;
  return call;
}

Status BatchNormLayer::Forward(Phase phase, const LayerTensors& tensors) {
  OpTable& ops = *context_->ops;
  Stream& stream = *context_->stream;
  void* running_mean = context_->parameters->statistic_at(parameters_.running_mean);
  void* running_variance = context_->parameters->statistic_at(parameters_.running_variance);
  BatchNormCall call = Call(tensors);
  call.mean = running_mean;
  call.variance = running_variance;
  if (phase == Phase::kTraining) {
    void* variance = BatchVariance(tensors.state);
    RETURN_IF_ERROR(ops.BatchNormStatistics(stream, shape_, call.x, tensors.state, variance,
                                            tensors.workspace));
    RETURN_IF_ERROR(ops.BatchNormUpdateRunning(stream, shape_.c, shape_.Pixels(),
                                               context_->batch_norm_momentum, tensors.state,
                                               variance, running_mean, running_variance));
    call.mean = tensors.state;
    call.variance = variance;
  }
  return ops.BatchNormForward(stream, call, tensors.output);
}

Status BatchNormLayer::Backward(const LayerTensors& tensors, const LayerGradients& gradients) {
  OpTable& ops = *context_->ops;
  Stream& stream = *context_->stream;
  void* dscale = context_->parameters->gradient_at(parameters_.scale);
  void* dshift = context_->parameters->gradient_at(parameters_.shift);
  BatchNormCall call = Call(tensors);
  call.mean = tensors.state;
  call.variance = BatchVariance(tensors.state);
  RETURN_IF_ERROR(
      ops.BatchNormBackwardSums(stream, call, tensors.output, gradients.doutput, dscale, dshift));
  if (gradients.dinputs[0] == nullptr) return OkStatus();
  const BatchNormSums sums = {dscale, dshift, shape_.Pixels()};
  return ops.BatchNormBackwardData(stream, call, sums, tensors.output, gradients.doutput,
                                   gradients.dinputs[0]);
}

}  // namespace shardmill
