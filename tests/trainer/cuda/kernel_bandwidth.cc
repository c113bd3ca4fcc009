// How much memory per second each kernel moves, beside a copy within the device.
//
// Prints one line per kernel: name, microseconds, GB/s, share of the copy's GB/s. Counted is what
// a kernel must move at least: each input once, each output once. Needs a GPU; exits 5 without.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/trainer/cuda/plain_device_backend.h"

namespace shardmill {
namespace {

constexpr int kWarmUps = 3;
constexpr int kRuns = 20;

// Bytes in a named memory, which the kernels of a measurement share.
class Bench {
 public:
  static Result<std::unique_ptr<Bench>> Create(ElementType type) {
    auto bench = std::make_unique<Bench>(type);
    ASSIGN_OR_RETURN(bench->stream_, bench->ops_.CreateStream());
    RETURN_IF_ERROR(CheckCuda(cudaEventCreate(&bench->begin_)));
    RETURN_IF_ERROR(CheckCuda(cudaEventCreate(&bench->end_)));
    return bench;
  }

  explicit Bench(ElementType type) : ops_(type) {}
  ~Bench() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  PlainDeviceOps& ops() { return ops_; }
  Stream& stream() { return *stream_; }
  int64_t ElementSize() const { return ElementBytes(ops_.element_type()); }

  // Zeroed memory of that many bytes.
  void* New(int64_t bytes) {
    auto buffer = DeviceBuffer::Create(&ops_, bytes);
    if (!buffer.ok()) {
      status_ = buffer.status();
      return nullptr;
    }
    buffers_.push_back(std::move(buffer).value());
    return buffers_.back().data();
  }
  void* Elements(int64_t count) { return New(count * ElementSize()); }
  float* Floats(int64_t count) { return static_cast<float*>(New(4 * count)); }
  void FreeAll() { buffers_.clear(); }

  // Runs `body`, which moves so many bytes.
  void Measure(const std::string& name, int64_t bytes, const std::function<Status()>& body) {
    if (!status_.ok()) return;
    for (int i = 0; i < kWarmUps && status_.ok(); ++i) status_ = body();
    const cudaStream_t stream = PlainDeviceBackend::StreamOf(*stream_);
    if (status_.ok()) status_ = CheckCuda(cudaEventRecord(begin_, stream));
    for (int i = 0; i < kRuns && status_.ok(); ++i) status_ = body();
    if (status_.ok()) status_ = CheckCuda(cudaEventRecord(end_, stream));
    if (status_.ok()) status_ = stream_->Synchronize();
    float milliseconds = 0;
    if (status_.ok()) status_ = CheckCuda(cudaEventElapsedTime(&milliseconds, begin_, end_));
    if (!status_.ok()) {
      status_ = status_.WithContext(name);
      return;
    }
    const double seconds = milliseconds / 1e3 / kRuns;
    const double rate = static_cast<double>(bytes) / seconds / 1e9;
    if (copy_rate_ == 0) copy_rate_ = rate;
    std::printf("%-28s %10.1f us %8.0f GB/s %6.2f\n", name.c_str(), seconds * 1e6, rate,
                rate / copy_rate_);
  }

  const Status& status() const { return status_; }

 private:
  PlainDeviceOps ops_;
  std::unique_ptr<Stream> stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  std::vector<DeviceBuffer> buffers_;
  double copy_rate_ = 0;  // of the first that was measured
  Status status_;
};

// The widest tensors of a U-Net at 352 × 480.
constexpr Shape kShape = {8, 352, 480, 64};
constexpr int64_t kSize = kShape.Elements();

void MeasureCopyAndElements(Bench* b) {
  const int64_t bytes = kSize * b->ElementSize();
  void* x = b->New(bytes);
  void* y = b->New(bytes);
  b->Measure("copy", 2 * bytes, [&] {
    return CheckCuda(cudaMemcpyAsync(y, x, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice,
                                     PlainDeviceBackend::StreamOf(b->stream())));
  });
  b->Measure("ReLU", 2 * bytes, [&] {
    return b->ops().ActivationForward(b->stream(), Activation::kRelu, kSize, x, y);
  });
  b->Measure("addition", 3 * bytes, [&] { return b->ops().Add(b->stream(), kSize, x, y); });
  b->Measure("dropout", 2 * bytes, [&] {
    return b->ops().Dropout(b->stream(), {kShape, 1, 0, 0.5, false}, x, y);
  });
  b->FreeAll();
}

void MeasureBatchNorm(Bench* b) {
  const int64_t bytes = kSize * b->ElementSize();
  BatchNormCall norm;
  norm.shape = kShape;
  norm.activation = Activation::kRelu;
  norm.x = b->New(bytes);
  float* vectors = b->Floats(6 * kShape.c);
  float* dscale = vectors + 4 * kShape.c;
  norm.mean = vectors;
  norm.variance = vectors + kShape.c;
  norm.scale = vectors + 2 * kShape.c;
  norm.shift = vectors + 3 * kShape.c;
  norm.workspace = b->New(b->ops().BatchNormWorkspaceBytes(kShape));
  void* y = b->New(bytes);
  void* dy = b->New(bytes);
  b->Measure("batch norm statistics", bytes, [&] {
    return b->ops().BatchNormStatistics(b->stream(), kShape, norm.x, vectors, vectors + kShape.c,
                                        norm.workspace);
  });
  b->Measure("batch norm + ReLU", 2 * bytes,
             [&] { return b->ops().BatchNormForward(b->stream(), norm, y); });
  b->Measure("batch norm gradient sums", 2 * bytes, [&] {
    return b->ops().BatchNormBackwardSums(b->stream(), norm, y, dy, dscale, dscale + kShape.c);
  });
  const BatchNormSums sums = {dscale, dscale + kShape.c, kShape.Pixels()};
  b->Measure("batch norm gradient", 3 * bytes,
             [&] { return b->ops().BatchNormBackwardData(b->stream(), norm, sums, y, dy, dy); });
  b->FreeAll();
}

void MeasureWindows(Bench* b) {
  const PoolShape pool = {kShape, SquareWindow(2, 2, 0)};
  const int64_t small = pool.Output().Elements();
  const UpsampleShape up = {pool.Output(), 2, 2, UpsampleMode::kBilinear};
  void* x = b->Elements(kSize);
  void* y = b->Elements(small);
  auto* indices = static_cast<uint8_t*>(b->New(small));
  const int64_t bytes = (kSize + small) * b->ElementSize();
  b->Measure("max pool", bytes + small,
             [&] { return b->ops().MaxPoolForward(b->stream(), pool, x, y, indices); });
  b->Measure("max pool gradient", bytes + small, [&] {
    return b->ops().MaxPoolBackward(b->stream(), pool, y, indices, GradientMode::kOverwrite, x);
  });
  b->Measure("bilinear upsampling", bytes,
             [&] { return b->ops().UpsampleForward(b->stream(), up, y, x); });
  b->Measure("bilinear gradient", bytes, [&] {
    return b->ops().UpsampleBackward(b->stream(), up, x, GradientMode::kOverwrite, y);
  });
  const Shape whole = {kShape.n, kShape.h, kShape.w, 2 * kShape.c};
  ConcatPart parts[2];
  parts[0].shape = parts[1].shape = kShape;
  parts[0].x = parts[1].x = x;
  void* both = b->Elements(2 * kSize);
  b->Measure("concatenation", 4 * kSize * b->ElementSize(),
             [&] { return b->ops().ConcatForward(b->stream(), whole, parts, 2, both); });
  b->FreeAll();
}

void MeasureLoss(Bench* b) {
  const Shape logits_shape = {kShape.n, kShape.h, kShape.w, 12};
  const int64_t pixels = logits_shape.Pixels();
  LossCall loss;
  loss.shape = {logits_shape, LabelType::kIndexU8, 255};
  loss.labels = b->New(pixels);
  loss.workspace = b->New(b->ops().LossWorkspaceBytes(loss.shape));
  auto* sums = static_cast<double*>(b->New(16));
  void* logits = b->Elements(logits_shape.Elements());
  void* dlogits = b->Elements(logits_shape.Elements());
  const int64_t bytes = logits_shape.Elements() * b->ElementSize();
  b->Measure("cross-entropy + gradient", 2 * bytes + pixels, [&] {
    return b->ops().SoftmaxCrossEntropy(b->stream(), loss, logits, sums, sums + 1, dlogits);
  });
  b->Measure("argmax", bytes + pixels, [&] {
    return b->ops().Argmax(b->stream(), logits_shape, logits, LabelType::kIndexU8, dlogits);
  });
  b->FreeAll();
}

void MeasureSteps(Bench* b) {
  StepOps<PlainDeviceOps> steps(&b->ops());
  constexpr int64_t kParameters = int64_t{31} << 20;
  UpdateBuffers buffers = {};
  buffers.elements = kParameters;
  buffers.range_count = 1;
  auto* range = static_cast<UpdateRange*>(b->New(sizeof(UpdateRange)));
  const UpdateRange all = {kParameters, true};
  if (range == nullptr) return;
  Status copied = b->ops().CopyFromHost(b->stream(), &all, sizeof(all), range);
  if (copied.ok()) copied = b->stream().Synchronize();
  buffers.ranges = range;
  buffers.parameters = b->Floats(kParameters);
  buffers.gradients = b->Floats(kParameters);
  buffers.first = b->Floats(kParameters);
  buffers.second = b->Floats(kParameters);
  buffers.narrow = static_cast<Bfloat16*>(b->New(2 * kParameters));
  auto* numbers = static_cast<StepNumbers*>(b->New(sizeof(StepNumbers)));
  b->Measure("Adam, 31 M parameters", 30 * kParameters, [&] {
    RETURN_IF_ERROR(copied);
    return steps.Update(b->stream(), UpdateRule::kAdam, buffers, numbers);
  });
  InputCall call;
  call.source = {32, 352, 480, 3};
  call.output = {32, 352, 480, 8};
  call.images = b->New(call.source.Elements());
  call.mean = b->Floats(3);
  call.inverse_deviation = b->Floats(3);
  call.y = b->Elements(call.output.Elements());
  b->Measure("input", call.source.Elements() + call.output.Elements() * b->ElementSize(),
             [&] { return steps.PrepareInput(b->stream(), call); });
  b->FreeAll();
}

int Main() {
  auto bench = Bench::Create(ElementType::kBf16);
  Status status = bench.status();
  if (bench.ok()) {
    MeasureCopyAndElements(bench->get());
    MeasureBatchNorm(bench->get());
    MeasureWindows(bench->get());
    MeasureLoss(bench->get());
    MeasureSteps(bench->get());
    status = (*bench)->status();
  }
  if (status.ok()) return 0;
  std::fprintf(stderr, "kernel_bandwidth: %s\n", status.message().c_str());
  return ExitCode(status);
}

}  // namespace
}  // namespace shardmill

int main() { return shardmill::Main(); }
