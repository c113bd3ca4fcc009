#include "trainer/layers/batch_norm_layer.h"

#include <algorithm>

namespace shardmill {
namespace {

int64_t AlignedBytes(int64_t bytes) {
  return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

}  // namespace

int64_t BatchNormLayer::StateBytes() const {
  return kStateVectors * AlignedBytes(shape_.c * ElementBytes(context_->ops->element_type()));
}

void* BatchNormLayer::InState(void* state, StateVector vector) const {
  return static_cast<char*>(state) + vector * (StateBytes() / kStateVectors);
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

template <typename T>
void BatchNormLayer::LeaveOutPadding(T* mean, T* variance) const {
  const auto all = static_cast<double>(shape_.Pixels());
  const double ratio = all / static_cast<double>(context_->valid_frames);
  for (int64_t c = 0; c < shape_.c; ++c) {
    const double square = ratio * (variance[c] + static_cast<double>(mean[c]) * mean[c]);
    const double own_mean = ratio * mean[c];
    mean[c] = static_cast<T>(own_mean);
    variance[c] = static_cast<T>(std::max(0.0, square - own_mean * own_mean));
  }
}

template <typename T>
Status BatchNormLayer::ShareStatistics(T* mean, T* variance, int64_t* pixels) {
  const int64_t channels = shape_.c;
  const double own_pixels = static_cast<double>(*pixels);
  // Sums of x and of its squares: in double, of numbers with at most 24 bits, they lose nothing
  // that the statistics of the parts still had.
  numbers_.resize(2 * channels + 1);
  double* sums = numbers_.data();
  double* squares = sums + channels;
  for (int64_t c = 0; c < channels; ++c) {
    sums[c] = own_pixels * mean[c];
    squares[c] = own_pixels * (variance[c] + static_cast<double>(mean[c]) * mean[c]);
  }
  numbers_.back() = own_pixels;
  RETURN_IF_ERROR(context_->shared_sums->Sum(sums, 2 * channels + 1, name_));
  const double total = numbers_.back();
  for (int64_t c = 0; c < channels; ++c) {
    const double shared_mean = sums[c] / total;
    mean[c] = static_cast<T>(shared_mean);
    variance[c] = static_cast<T>(std::max(0.0, squares[c] / total - shared_mean * shared_mean));
  }
  *pixels = static_cast<int64_t>(total);
  return OkStatus();
}

template <typename T>
Status BatchNormLayer::ShareGradients(const T* dscale, const T* dshift, T* shared_dscale,
                                      T* shared_dshift) {
  const int64_t channels = shape_.c;
  numbers_.resize(2 * channels);
  std::copy_n(dscale, channels, numbers_.begin());
  std::copy_n(dshift, channels, numbers_.begin() + channels);
  RETURN_IF_ERROR(context_->shared_sums->Sum(numbers_.data(), 2 * channels, name_));
  for (int64_t c = 0; c < channels; ++c) {
    shared_dscale[c] = static_cast<T>(numbers_[c]);
    shared_dshift[c] = static_cast<T>(numbers_[channels + c]);
  }
  return OkStatus();
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
    void* mean = InState(tensors.state, kMean);
    void* variance = InState(tensors.state, kVariance);
    RETURN_IF_ERROR(
        ops.BatchNormStatistics(stream, shape_, call.x, mean, variance, tensors.workspace));
    shared_pixels_ = shape_.Pixels();
    if (context_->IsPadded(shape_)) {
      shared_pixels_ = context_->valid_frames;
      if (ops.element_type() == ElementType::kF32) {
        LeaveOutPadding(static_cast<float*>(mean), static_cast<float*>(variance));
      } else {
        LeaveOutPadding(static_cast<double*>(mean), static_cast<double*>(variance));
      }
    }
    if (context_->shared_sums != nullptr) {
      RETURN_IF_ERROR(ops.element_type() == ElementType::kF32
                          ? ShareStatistics(static_cast<float*>(mean),
                                            static_cast<float*>(variance), &shared_pixels_)
                          : ShareStatistics(static_cast<double*>(mean),
                                            static_cast<double*>(variance), &shared_pixels_));
    }
    RETURN_IF_ERROR(ops.BatchNormUpdateRunning(stream, shape_.c, shared_pixels_,
                                               context_->batch_norm_momentum, mean, variance,
                                               running_mean, running_variance));
    call.mean = mean;
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
  call.mean = InState(tensors.state, kMean);
  call.variance = InState(tensors.state, kVariance);
  RETURN_IF_ERROR(
      ops.BatchNormBackwardSums(stream, call, tensors.output, gradients.doutput, dscale, dshift));
  if (gradients.dinputs[0] == nullptr) return OkStatus();
  BatchNormSums sums = {dscale, dshift, shared_pixels_};
  if (context_->shared_sums != nullptr) {
    void* shared_dscale = InState(tensors.state, kSharedScaleGradient);
    void* shared_dshift = InState(tensors.state, kSharedShiftGradient);
    RETURN_IF_ERROR(
        ops.element_type() == ElementType::kF32
            ? ShareGradients(static_cast<const float*>(dscale), static_cast<const float*>(dshift),
                             static_cast<float*>(shared_dscale), static_cast<float*>(shared_dshift))
            : ShareGradients(static_cast<const double*>(dscale), static_cast<const double*>(dshift),
                             static_cast<double*>(shared_dscale),
                             static_cast<double*>(shared_dshift)));
    sums.dscale = shared_dscale;
    sums.dshift = shared_dshift;
  }
  return ops.BatchNormBackwardData(stream, call, sums, tensors.output, gradients.doutput,
                                   gradients.dinputs[0]);
}

}  // namespace shardmill
