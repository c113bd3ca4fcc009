#include "trainer/layers/batch_norm_layer.h"

#include <algorithm>
#include <type_traits>

namespace shardmill {
namespace {

int64_t AlignedBytes(int64_t bytes) {
  return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

// Vectors per channel are f32 at least.
int64_t VectorBytes(int64_t channels, ElementType type) {
  return channels * (type == ElementType::kF64 ? 8 : 4);
}

}  // namespace

// Of devices also of sums on their way to other ranks.
int64_t BatchNormLayer::WorkspaceBytes() const {
  const int64_t bytes = context_->ops->BatchNormWorkspaceBytes(shape_);
  if (context_->ops->host_memory()) return bytes;
  return std::max(bytes, DeviceNormSums::ScratchBytes(shape_.c));
}

int64_t BatchNormLayer::StateBytes() const {
  return kStateVectors * AlignedBytes(VectorBytes(shape_.c, context_->ops->element_type()));
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

// Calls body(first, second) with two vectors of c elements where the host can read and write them.
template <typename Body>
Status BatchNormLayer::OnHost(void* first, void* second, const Body& body) {
  OpTable& ops = *context_->ops;
  const int64_t bytes = VectorBytes(shape_.c, ops.element_type());
  void* vectors[2] = {first, second};
  if (!ops.host_memory()) {
    host_vectors_.resize(2 * shape_.c);
    for (int i = 0; i < 2; ++i) {
      void* host = host_vectors_.data() + i * shape_.c;
      RETURN_IF_ERROR(ops.CopyToHost(*context_->stream, vectors[i], bytes, host));
      vectors[i] = host;
    }
    RETURN_IF_ERROR(context_->stream->Synchronize());
  }
  RETURN_IF_ERROR(ops.element_type() == ElementType::kF64
                      ? body(static_cast<double*>(vectors[0]), static_cast<double*>(vectors[1]))
                      : body(static_cast<float*>(vectors[0]), static_cast<float*>(vectors[1])));
  if (ops.host_memory()) return OkStatus();
  RETURN_IF_ERROR(ops.CopyFromHost(*context_->stream, vectors[0], bytes, first));
  return ops.CopyFromHost(*context_->stream, vectors[1], bytes, second);
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

// Padding is left out of the statistics on the host.
DeviceNormSums* BatchNormLayer::SumsOnDevice() const {
  return context_->IsPadded(shape_) ? nullptr : context_->norm_sums;
}

Status BatchNormLayer::ShareGradientsOnDevice(const LayerTensors& tensors, const void* dscale,
                                              const void* dshift) {
  return SumsOnDevice()->SumGradients(
      shape_.c, static_cast<const float*>(dscale), static_cast<const float*>(dshift),
      static_cast<float*>(InState(tensors.state, kSharedScaleGradient)),
      static_cast<float*>(InState(tensors.state, kSharedShiftGradient)),
      static_cast<double*>(tensors.workspace), name_);
}

Status BatchNormLayer::ShareGradientsOnHost(const LayerTensors& tensors, const void* dscale,
                                            const void* dshift) {
  RETURN_IF_ERROR(context_->stream->Synchronize());  // dscale and dshift lie in shared memory
  return OnHost(InState(tensors.state, kSharedScaleGradient),
                InState(tensors.state, kSharedShiftGradient),
                [&](auto* to_dscale, auto* to_dshift) {
                  using T = std::remove_pointer_t<decltype(to_dscale)>;
                  return ShareGradients(static_cast<const T*>(dscale),
                                        static_cast<const T*>(dshift), to_dscale, to_dshift);
                });
}

// The statistics of the whole batch, without its padding.
Status BatchNormLayer::FinishStatistics(void* mean, void* variance, void* workspace) {
  if (DeviceNormSums* const sums = SumsOnDevice()) {
    ASSIGN_OR_RETURN(
        shared_pixels_,
        sums->SumStatistics(shape_.c, shape_.Pixels(), static_cast<float*>(mean),
                            static_cast<float*>(variance), static_cast<double*>(workspace), name_));
    return OkStatus();
  }
  const bool padded = context_->IsPadded(shape_);
  shared_pixels_ = padded ? context_->valid_frames : shape_.Pixels();
  if (!padded && context_->shared_sums == nullptr) return OkStatus();
  return OnHost(mean, variance, [&](auto* host_mean, auto* host_variance) -> Status {
    if (padded) LeaveOutPadding(host_mean, host_variance);
    if (context_->shared_sums == nullptr) return OkStatus();
    return ShareStatistics(host_mean, host_variance, &shared_pixels_);
  });
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
    RETURN_IF_ERROR(FinishStatistics(mean, variance, tensors.workspace));
    // Less its mean a single value is 0, whatever the network has computed: it would learn nothing.
    if (shared_pixels_ == 1) {
      return InvalidArgumentError("batch norm '" + name_ +
                                  "' has a single value per channel to take statistics of; use a "
                                  "larger --batch");
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
  const bool on_device = SumsOnDevice() != nullptr;
  if (on_device || context_->shared_sums != nullptr) {
    RETURN_IF_ERROR(on_device ? ShareGradientsOnDevice(tensors, dscale, dshift)
                              : ShareGradientsOnHost(tensors, dscale, dshift));
    sums.dscale = InState(tensors.state, kSharedScaleGradient);
    sums.dshift = InState(tensors.state, kSharedShiftGradient);
  }
  return ops.BatchNormBackwardData(stream, call, sums, tensors.output, gradients.doutput,
                                   gradients.dinputs[0]);
}

}  // namespace shardmill
