// The smallest backend that runs kernels on the GPU: memory and streams of the CUDA runtime, no
// convolutions. For tests and measurements of the kernels alone.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "trainer/cuda/kernels/device_launch.h"
#include "trainer/cuda/ops/kernel_ops.h"
#include "trainer/cuda/ops/step_ops.h"

namespace shardmill {

inline Status CheckCuda(cudaError_t error) {
  return error == cudaSuccess ? OkStatus() : UnavailableError(cudaGetErrorString(error));
}

class PlainDeviceStream : public Stream {
 public:
  explicit PlainDeviceStream(cudaStream_t stream) : stream_(stream) {}
  ~PlainDeviceStream() override { cudaStreamDestroy(stream_); }
  Status Synchronize() override { return CheckCuda(cudaStreamSynchronize(stream_)); }
  cudaStream_t stream() const { return stream_; }

 private:
  cudaStream_t stream_;
};

class PlainDeviceBackend : public OpTable {
 public:
  explicit PlainDeviceBackend(ElementType type) : type_(type) {}

  std::string_view name() const override { return "cuda"; }
  ElementType element_type() const override { return type_; }
  bool host_memory() const override { return false; }

  Result<void*> Allocate(int64_t bytes) override {
    void* memory = nullptr;
    const auto size = static_cast<size_t>(std::max(bytes, kMemoryAlignment));
    RETURN_IF_ERROR(CheckCuda(cudaMalloc(&memory, size)));
    RETURN_IF_ERROR(CheckCuda(cudaMemset(memory, 0, size)));
    RETURN_IF_ERROR(CheckCuda(cudaDeviceSynchronize()));
    return memory;
  }
  void Free(void* memory) override { cudaFree(memory); }
  Result<std::unique_ptr<Stream>> CreateStream() override {
    cudaStream_t stream = nullptr;
    RETURN_IF_ERROR(CheckCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)));
    return std::unique_ptr<Stream>(new PlainDeviceStream(stream));
  }
  Status CopyFromHost(Stream& stream, const void* host, int64_t bytes, void* memory) override {
    return CheckCuda(cudaMemcpyAsync(memory, host, static_cast<size_t>(bytes),
                                     cudaMemcpyHostToDevice, StreamOf(stream)));
  }
  Status CopyToHost(Stream& stream, const void* memory, int64_t bytes, void* host) override {
    return CheckCuda(cudaMemcpyAsync(host, memory, static_cast<size_t>(bytes),
                                     cudaMemcpyDeviceToHost, StreamOf(stream)));
  }
  Status SetZero(Stream& stream, int64_t bytes, void* memory) override {
    return CheckCuda(cudaMemsetAsync(memory, 0, static_cast<size_t>(bytes), StreamOf(stream)));
  }
  Result<std::unique_ptr<ConvolutionOp>> PrepareConvolution(const ConvolutionShape&) override {
    return InternalError("convolutions are not among the kernels");
  }

  template <typename Functor>
  Status Launch(Stream& stream, int64_t count, const Functor& functor) {
    return CheckCuda(LaunchOnDevice(StreamOf(stream), count, functor));
  }

  static cudaStream_t StreamOf(Stream& stream) {
    return static_cast<PlainDeviceStream&>(stream).stream();
  }

 private:
  ElementType type_;
};

using PlainDeviceOps = KernelOps<PlainDeviceBackend>;

}  // namespace shardmill
