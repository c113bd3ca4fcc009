#include "trainer/cuda/simulated/simulated_ops.h"

#include <cstring>
#include <utility>
#include <vector>

#include "trainer/cuda/ops/host_kernels.h"

namespace shardmill {
namespace {

class SimulatedStream : public Stream {
 public:
  SimulatedStream(SimulatedRuntime* runtime, StreamHandle handle)
      : runtime_(runtime), handle_(handle) {}
  Status Synchronize() override { return runtime_->SynchronizeStream(handle_); }
  StreamHandle handle() const { return handle_; }

 private:
  SimulatedRuntime* runtime_;
  StreamHandle handle_;
};

StreamHandle Handle(Stream& stream) { return static_cast<SimulatedStream&>(stream).handle(); }

// Runs later what a convolution of the host does at once.
class LateConvolution : public ConvolutionOp {
 public:
  LateConvolution(SimulatedRuntime* runtime, std::shared_ptr<ConvolutionOp> op)
      : runtime_(runtime), op_(std::move(op)) {}

  int64_t WorkspaceBytes() const override { return op_->WorkspaceBytes(); }
  Status Forward(Stream& stream, const void* x, const void* weights, const void* bias, void* y,
                 void* workspace) override {
    return runtime_->Enqueue(Handle(stream), [=, &stream, op = op_] {
      SHARDMILL_CHECK(op->Forward(stream, x, weights, bias, y, workspace).ok());
    });
  }
  Status BackwardData(Stream& stream, const void* dy, const void* weights, void* dx,
                      void* workspace) override {
    return runtime_->Enqueue(Handle(stream), [=, &stream, op = op_] {
      SHARDMILL_CHECK(op->BackwardData(stream, dy, weights, dx, workspace).ok());
    });
  }
  Status BackwardWeights(Stream& stream, const void* x, const void* dy, void* dweights, void* dbias,
                         void* workspace) override {
    return runtime_->Enqueue(Handle(stream), [=, &stream, op = op_] {
      SHARDMILL_CHECK(op->BackwardWeights(stream, x, dy, dweights, dbias, workspace).ok());
    });
  }

 private:
  SimulatedRuntime* runtime_;
  std::shared_ptr<ConvolutionOp> op_;
};

class SimulatedBackend : public DeviceOpTable {
 public:
  SimulatedBackend(ElementType type, std::unique_ptr<SimulatedRuntime> runtime)
      : runtime_(std::move(runtime)), host_(CreateHostKernelOps(type, KernelOrder::kAscending)) {}

  std::string_view name() const override { return "cuda-host"; }
  ElementType element_type() const override { return host_->element_type(); }
  CudaRuntime* runtime() const override { return runtime_.get(); }
  StreamHandle HandleOf(Stream& stream) const override { return Handle(stream); }

  Result<void*> Allocate(int64_t bytes) override {
    ASSIGN_OR_RETURN(void* const memory, runtime_->AllocateDevice(bytes));
    return Zeroed(memory, bytes);
  }
  Result<void*> AllocateShared(int64_t bytes) override {
    ASSIGN_OR_RETURN(void* const memory, runtime_->AllocateShared(bytes));
    return Zeroed(memory, bytes);
  }
  void Free(void* memory) override {
    if (!runtime_->FreeDevice(memory).ok()) return;  // the device is lost, and its memory
  }
  Result<std::unique_ptr<Stream>> CreateStream() override {
    ASSIGN_OR_RETURN(const StreamHandle handle, runtime_->CreateStream());
    return std::unique_ptr<Stream>(new SimulatedStream(runtime_.get(), handle));
  }
  // The host's bytes are taken now, as from pageable memory.
  Status CopyFromHost(Stream& stream, const void* host, int64_t bytes, void* memory) override {
    const auto* first = static_cast<const char*>(host);
    const OperationNote note = {"copy from host", {}, {{memory, bytes}}};
    return runtime_->Launch(Handle(stream), note, [&](StreamHandle handle) {
      return runtime_->Enqueue(handle, [copy = std::vector<char>(first, first + bytes), memory] {
        std::memcpy(memory, copy.data(), copy.size());
      });
    });
  }
  Status CopyToHost(Stream& stream, const void* memory, int64_t bytes, void* host) override {
    const OperationNote note = {"copy to pageable memory", {{memory, bytes}}, {}};
    return runtime_->Launch(Handle(stream), note, [&](StreamHandle handle) {
      return runtime_->Enqueue(handle,
                               [=] { std::memcpy(host, memory, static_cast<size_t>(bytes)); });
    });
  }
  Status SetZero(Stream& stream, int64_t bytes, void* memory) override {
    return runtime_->SetZero(Handle(stream), bytes, memory);
  }
  int64_t image_channel_multiple() const override {
    return element_type() == ElementType::kBf16 ? 8 : 4;
  }
  Result<std::unique_ptr<ConvolutionOp>> PrepareConvolution(
      const ConvolutionShape& shape) override {
    ASSIGN_OR_RETURN(std::unique_ptr<ConvolutionOp> op, host_->PrepareConvolution(shape));
    return std::unique_ptr<ConvolutionOp>(new LateConvolution(runtime_.get(), std::move(op)));
  }
  template <typename Functor>
  Status Launch(Stream& stream, int64_t count, const Functor& functor) {
    return runtime_->Enqueue(Handle(stream), [=] {
      for (int64_t i = 0; i < count; ++i) functor(i);
    });
  }

 private:
  Result<void*> Zeroed(void* memory, int64_t bytes) {
    std::memset(memory, 0, static_cast<size_t>(bytes));
    runtime_->NoteHostAccess({"zeroes", {}, {{memory, bytes}}});
    return memory;
  }

  std::unique_ptr<SimulatedRuntime> runtime_;
  std::unique_ptr<OpTable> host_;
};

}  // namespace

std::unique_ptr<DeviceOpTable> CreateSimulatedOps(ElementType element_type,
                                                  std::unique_ptr<SimulatedRuntime> runtime) {
  return std::make_unique<DeviceKernelOps<SimulatedBackend>>(element_type, std::move(runtime));
}

}  // namespace shardmill
