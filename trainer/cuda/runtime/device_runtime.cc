#include "trainer/cuda/runtime/device_runtime.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/cuda/runtime/cuda_status.h"
#include "trainer/cuda/runtime/device_wait.h"

namespace shardmill {
namespace {

cudaStream_t Stream(StreamHandle stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t Event(EventHandle event) { return static_cast<cudaEvent_t>(event); }

Status OutOfMemory(int64_t bytes) {
  cudaGetLastError();
  size_t free_bytes = 0, total_bytes = 0;
  RETURN_IF_ERROR(CudaStatus(cudaMemGetInfo(&free_bytes, &total_bytes), "say how much is free"));
  return UnavailableError("out of GPU memory: " + std::to_string(bytes) + " bytes asked for, " +
                          std::to_string(free_bytes) + " of " + std::to_string(total_bytes) +
                          " free; use a smaller --batch");
}

class DeviceRuntime : public CudaRuntime {
 public:
  explicit DeviceRuntime(std::function<bool()> was_interrupted)
      : wait_({}, std::move(was_interrupted)) {}

  Result<void*> AllocateDevice(int64_t bytes) override {
    void* memory = nullptr;
    return Checked(cudaMalloc(&memory, SizeOf(bytes)), memory, bytes);
  }
  Result<int64_t> FreeBytes() override {
    size_t free_bytes = 0, total_bytes = 0;
    RETURN_IF_ERROR(CudaStatus(cudaMemGetInfo(&free_bytes, &total_bytes), "say how much is free"));
    return static_cast<int64_t>(free_bytes);
  }
  Result<void*> AllocateShared(int64_t bytes) override {
    void* memory = nullptr;
    return Checked(cudaMallocManaged(&memory, SizeOf(bytes)), memory, bytes);
  }
  // Both kinds of memory go when the device is idle, for which CUDA would wait without end.
  Status FreeDevice(void* memory) override {
    RETURN_IF_ERROR(Drain());
    return CudaStatus(cudaFree(memory), "free memory");
  }

  Result<void*> AllocatePinned(int64_t bytes) override {
    void* memory = nullptr;
    RETURN_IF_ERROR(CudaStatus(cudaMallocHost(&memory, static_cast<size_t>(bytes)),
                               "pin " + std::to_string(bytes) + " bytes of host memory"));
    return memory;
  }
  Status FreePinned(void* memory) override {
    RETURN_IF_ERROR(Drain());
    return CudaStatus(cudaFreeHost(memory), "free pinned memory");
  }

  Result<StreamHandle> CreateStream() override {
    cudaStream_t stream = nullptr;
    RETURN_IF_ERROR(
        CudaStatus(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "create a stream"));
    streams_.push_back(stream);
    return static_cast<StreamHandle>(stream);
  }
  Status DestroyStream(StreamHandle stream) override {
    streams_.erase(std::remove(streams_.begin(), streams_.end(), Stream(stream)), streams_.end());
    RETURN_IF_ERROR(wait_.lost());
    return CudaStatus(cudaStreamDestroy(Stream(stream)), "destroy a stream");
  }
  Result<EventHandle> CreateEvent() override {
    cudaEvent_t event = nullptr;
    RETURN_IF_ERROR(
        CudaStatus(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "create an event"));
    return static_cast<EventHandle>(event);
  }
  Status DestroyEvent(EventHandle event) override {
    RETURN_IF_ERROR(wait_.lost());
    return CudaStatus(cudaEventDestroy(Event(event)), "destroy an event");
  }

  Status RecordEvent(EventHandle event, StreamHandle stream) override {
    return CudaStatus(cudaEventRecord(Event(event), Stream(stream)), "record an event");
  }
  Status WaitEvent(StreamHandle stream, EventHandle event) override {
    return CudaStatus(cudaStreamWaitEvent(Stream(stream), Event(event), 0), "wait for an event");
  }
  Result<bool> IsDone(EventHandle event) override {
    return IsReady(cudaEventQuery(Event(event)), "wait for an event");
  }
  Status Synchronize(EventHandle event) override {
    return wait_.Await([&] { return IsDone(event); }, watch());
  }
  Status SynchronizeStream(StreamHandle stream) override {
    return wait_.Await([&] { return IsIdle(Stream(stream)); }, watch());
  }
  Status Drain() override {
    for (const cudaStream_t stream : streams_) {
      RETURN_IF_ERROR(wait_.Drain([&] { return IsIdle(stream); }));
    }
    return wait_.lost();
  }

  Status CopyToDevice(StreamHandle stream, const void* pinned, int64_t bytes,
                      void* device) override {
    return CudaStatus(cudaMemcpyAsync(device, pinned, static_cast<size_t>(bytes),
                                      cudaMemcpyHostToDevice, Stream(stream)),
                      "copy to the device");
  }
  Status CopyToHost(StreamHandle stream, const void* device, int64_t bytes, void* pinned) override {
    return CudaStatus(cudaMemcpyAsync(pinned, device, static_cast<size_t>(bytes),
                                      cudaMemcpyDeviceToHost, Stream(stream)),
                      "copy to the host");
  }
  Status SetZero(StreamHandle stream, int64_t bytes, void* device) override {
    return CudaStatus(cudaMemsetAsync(device, 0, static_cast<size_t>(bytes), Stream(stream)),
                      "zero memory");
  }

  Status Launch(StreamHandle stream, const OperationNote& note,
                const LaunchFunction& launch) override {
    if (Status status = launch(stream); !status.ok()) return status.WithContext(note.name);
    return OkStatus();
  }
  void NoteHostAccess(const OperationNote&) override {}

  // Thread-local: other threads of the process may go on calling the runtime.
  Status BeginCapture(StreamHandle stream) override {
    return CudaStatus(cudaStreamBeginCapture(Stream(stream), cudaStreamCaptureModeThreadLocal),
                      "start to capture");
  }
  Result<GraphHandle> EndCapture(StreamHandle stream) override {
    cudaGraph_t graph = nullptr;
    RETURN_IF_ERROR(CudaStatus(cudaStreamEndCapture(Stream(stream), &graph), "capture a graph"));
    cudaGraphExec_t executable = nullptr;
    const Status status =
        CudaStatus(cudaGraphInstantiate(&executable, graph, 0), "prepare a captured graph");
    RETURN_IF_ERROR(CudaStatus(cudaGraphDestroy(graph), "free a captured graph"));
    RETURN_IF_ERROR(status);
    return static_cast<GraphHandle>(executable);
  }
  Status LaunchGraph(GraphHandle graph, StreamHandle stream) override {
    return CudaStatus(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), Stream(stream)),
                      "launch a graph");
  }
  Status DestroyGraph(GraphHandle graph) override {
    RETURN_IF_ERROR(wait_.lost());
    return CudaStatus(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)), "free a graph");
  }

 private:
  static Result<bool> IsReady(cudaError_t code, const char* what) {
    if (code == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    RETURN_IF_ERROR(CudaStatus(code, what));
    return true;
  }
  static Result<bool> IsIdle(cudaStream_t stream) {
    return IsReady(cudaStreamQuery(stream), "wait for a stream");
  }
  // CUDA does not allocate nothing.
  static size_t SizeOf(int64_t bytes) { return static_cast<size_t>(bytes > 0 ? bytes : 1); }
  // `memory` was written by the call that gave `code`.
  static Result<void*> Checked(cudaError_t code, void* const& memory, int64_t bytes) {
    if (code == cudaErrorMemoryAllocation) return OutOfMemory(bytes);
    RETURN_IF_ERROR(CudaStatus(code, "allocate memory"));
    return memory;
  }

  DeviceWait wait_;
  std::vector<cudaStream_t> streams_;
};

}  // namespace

std::unique_ptr<CudaRuntime> CreateDeviceRuntime(bool (*was_interrupted)()) {
  return std::make_unique<DeviceRuntime>(
      [=] { return was_interrupted != nullptr && was_interrupted(); });
}

}  // namespace shardmill
