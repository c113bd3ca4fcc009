// The backend of KernelOps on the current device: memory, streams, convolutions, launches.
#pragma once

#include <cudnn.h>

#include <memory>
#include <string>
#include <string_view>

#include "trainer/cuda/dnn/convolution_plan_set.h"
#include "trainer/cuda/kernels/device_launch.h"
#include "trainer/cuda/ops/device_op_table.h"
#include "trainer/cuda/runtime/cuda_status.h"
#include "trainer/cuda/runtime/runtime.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

struct CudaBackendParts {
  MathMode math = MathMode::kTf32;  // kBf16: elements are bf16
  bool deterministic = false;
  std::unique_ptr<CudaRuntime> runtime;
  std::unique_ptr<PlanCache> cache;
  std::unique_ptr<ConvolutionPlans> plans;
  void (*say)(const std::string& note) = nullptr;
};

// A stream of the runtime, and cuDNN on it.
class CudaStream : public Stream {
 public:
  static Result<std::unique_ptr<CudaStream>> Create(CudaRuntime* runtime);
  ~CudaStream() override;
  Status Synchronize() override { return runtime_->SynchronizeStream(stream_); }

  StreamHandle handle() const { return stream_; }
  cudaStream_t stream() const { return static_cast<cudaStream_t>(stream_); }
  cudnnHandle_t dnn() const { return dnn_; }

 private:
  explicit CudaStream(CudaRuntime* runtime) : runtime_(runtime) {}

  CudaRuntime* runtime_;
  StreamHandle stream_ = nullptr;
  cudnnHandle_t dnn_ = nullptr;
};

class CudaBackend : public DeviceOpTable {
 public:
  explicit CudaBackend(CudaBackendParts parts) : parts_(std::move(parts)) {}
  ~CudaBackend() override;

  std::string_view name() const override { return "cuda"; }
  ElementType element_type() const override {
    return parts_.math == MathMode::kBf16 ? ElementType::kBf16 : ElementType::kF32;
  }

  Result<void*> Allocate(int64_t bytes) override;
  Result<void*> AllocateShared(int64_t bytes) override;
  void Free(void* memory) override;
  Result<std::unique_ptr<Stream>> CreateStream() override;
  Status CopyFromHost(Stream& stream, const void* host, int64_t bytes, void* memory) override;
  Status CopyToHost(Stream& stream, const void* memory, int64_t bytes, void* host) override;
  Status SetZero(Stream& stream, int64_t bytes, void* memory) override;
  int64_t image_channel_multiple() const override { return ImageChannelMultiple(parts_.math); }
  // New plans are kept in the cache's file at once, where that can be written.
  Result<std::unique_ptr<ConvolutionOp>> PrepareConvolution(const ConvolutionShape& shape) override;

  // What to do when a plan that cuDNN accepted could not be enqueued: `failure`, cuDNN's `code`.
  // Where that is the plan's fault and the stream is not being captured, the set gets another plan;
  // else the answer is `failure`. A step that fails while it is captured runs eagerly, and then
  // comes here again. What a kernel does wrong later on the device ends its context, and nothing
  // helps.
  Status ReplacePlan(Stream& stream, ConvolutionPass pass, const Status& failure,
                     cudnnStatus_t code, ConvolutionPlanSet* set);

  template <typename Functor>
  Status Launch(Stream& stream, int64_t count, const Functor& functor) {
    return CudaStatus(LaunchOnDevice(static_cast<CudaStream&>(stream).stream(), count, functor),
                      "launch a kernel");
  }

  CudaRuntime* runtime() const override { return parts_.runtime.get(); }
  StreamHandle HandleOf(Stream& stream) const override {
    return static_cast<CudaStream&>(stream).handle();
  }
  const CudaBackendParts& parts() const { return parts_; }

 private:
  Result<void*> Zeroed(void* memory, int64_t bytes);
  Status ZeroNow(int64_t bytes, void* memory);
  void SavePlans() const;
  void Say(const std::string& note) const;

  CudaBackendParts parts_;
  StreamHandle zeroing_ = nullptr;
};

}  // namespace shardmill
