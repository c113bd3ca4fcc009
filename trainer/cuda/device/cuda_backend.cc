#include "trainer/cuda/device/cuda_backend.h"

#include <utility>

#include "trainer/cuda/device/cuda_convolution.h"
#include "trainer/cuda/dnn/plan_runner.h"

namespace shardmill {
namespace {

CudaStream& AsCuda(Stream& stream) { return static_cast<CudaStream&>(stream); }

// Memory that CUDA did not allocate: its copies are done when they return, and those to the host
// wait for the stream, without end where that hangs.
Result<bool> IsPageable(const void* host) {
  cudaPointerAttributes attributes;
  RETURN_IF_ERROR(CudaStatus(cudaPointerGetAttributes(&attributes, host), "look at host memory"));
  return attributes.type == cudaMemoryTypeUnregistered;
}

bool IsCaptured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess ||
         status != cudaStreamCaptureStatusNone;
}

}  // namespace

Result<std::unique_ptr<CudaStream>> CudaStream::Create(CudaRuntime* runtime) {
  std::unique_ptr<CudaStream> created(new CudaStream(runtime));
  ASSIGN_OR_RETURN(created->stream_, runtime->CreateStream());
  RETURN_IF_ERROR(DnnStatus(cudnnCreate(&created->dnn_), "start"));
  RETURN_IF_ERROR(DnnStatus(cudnnSetStream(created->dnn_, created->stream()), "take a stream"));
  return created;
}

CudaStream::~CudaStream() {
  // cuDNN waits for the device, which may hang.
  if (!runtime_->Drain().ok()) return;
  if (dnn_ != nullptr) cudnnDestroy(dnn_);
  if (stream_ != nullptr && !runtime_->DestroyStream(stream_).ok()) return;  // the device is lost
}

Result<void*> CudaBackend::Allocate(int64_t bytes) {
  ASSIGN_OR_RETURN(void* const memory, parts_.runtime->AllocateDevice(bytes));
  return Zeroed(memory, bytes);
}

Result<void*> CudaBackend::AllocateShared(int64_t bytes) {
  ASSIGN_OR_RETURN(void* const memory, parts_.runtime->AllocateShared(bytes));
  return Zeroed(memory, bytes);
}

Result<void*> CudaBackend::Zeroed(void* memory, int64_t bytes) {
  const Status status = ZeroNow(bytes, memory);
  if (status.ok()) return memory;
  Free(memory);
  return status;
}

// On a stream of its own: the work of others may hang, and is not waited for.
Status CudaBackend::ZeroNow(int64_t bytes, void* memory) {
  if (zeroing_ == nullptr) {
    ASSIGN_OR_RETURN(zeroing_, parts_.runtime->CreateStream());
  }
  RETURN_IF_ERROR(parts_.runtime->SetZero(zeroing_, bytes, memory));
  return parts_.runtime->SynchronizeStream(zeroing_);
}

CudaBackend::~CudaBackend() {
  if (zeroing_ != nullptr && !parts_.runtime->DestroyStream(zeroing_).ok()) return;  // it is lost
}

void CudaBackend::Free(void* memory) {
  if (!parts_.runtime->FreeDevice(memory).ok()) return;  // the device is lost, and its memory
}

Result<std::unique_ptr<Stream>> CudaBackend::CreateStream() {
  ASSIGN_OR_RETURN(std::unique_ptr<CudaStream> stream, CudaStream::Create(parts_.runtime.get()));
  return std::unique_ptr<Stream>(std::move(stream));
}

Status CudaBackend::CopyFromHost(Stream& stream, const void* host, int64_t bytes, void* memory) {
  const StreamHandle handle = AsCuda(stream).handle();
  ASSIGN_OR_RETURN(const bool pageable, IsPageable(host));
  if (pageable) RETURN_IF_ERROR(parts_.runtime->SynchronizeStream(handle));
  RETURN_IF_ERROR(parts_.runtime->CopyToDevice(handle, host, bytes, memory));
  return pageable ? OkStatus() : parts_.runtime->SynchronizeStream(handle);
}

Status CudaBackend::CopyToHost(Stream& stream, const void* memory, int64_t bytes, void* host) {
  const StreamHandle handle = AsCuda(stream).handle();
  ASSIGN_OR_RETURN(const bool pageable, IsPageable(host));
  if (pageable) RETURN_IF_ERROR(parts_.runtime->SynchronizeStream(handle));
  return parts_.runtime->CopyToHost(handle, memory, bytes, host);
}

Status CudaBackend::SetZero(Stream& stream, int64_t bytes, void* memory) {
  return parts_.runtime->SetZero(AsCuda(stream).handle(), bytes, memory);
}

Result<std::unique_ptr<ConvolutionOp>> CudaBackend::PrepareConvolution(
    const ConvolutionShape& shape) {
  ASSIGN_OR_RETURN(
      ConvolutionPlanSet plans,
      ConvolutionPlanSet::Find(shape, parts_.math, parts_.deterministic, parts_.plans.get()));
  SavePlans();
  return CreateCudaConvolution(this, shape, plans);
}

void CudaBackend::SavePlans() const {
  const Status saved = parts_.cache == nullptr ? OkStatus() : parts_.cache->Save();
  if (saved.ok()) return;
  Say("new plans are not kept for the next start: the file of --plan-cache could not be written: " +
      saved.message());
}

void CudaBackend::Say(const std::string& note) const {
  if (parts_.say != nullptr) parts_.say(note);
}

Status CudaBackend::ReplacePlan(Stream& stream, ConvolutionPass pass, const Status& failure,
                                cudnnStatus_t code, ConvolutionPlanSet* set) {
  const cudaStream_t on = AsCuda(stream).stream();
  // A failed launch leaves an error behind that says nothing of the device, and that the next
  // launch would report; others stay.
  const cudaError_t left = cudaGetLastError();
  if (IsCaptured(on)) return failure;
  const PlanFault fault = FaultOf(code, left, cudaStreamQuery(on));
  if (fault == PlanFault::kMemory) {
    return failure.WithContext("out of memory, most likely the GPU's; use a smaller --batch");
  }
  if (fault == PlanFault::kDevice) return failure;
  const int64_t failed_before = parts_.plans->counts().failed;
  const std::string problem = ProblemText(set->problems[static_cast<int>(pass)]);
  const Status replaced = set->Replace(pass, parts_.plans.get());
  SavePlans();
  if (parts_.plans->counts().failed > failed_before) {
    Say("the plan for " + problem + " has failed and " +
        (replaced.ok() ? "another takes its place: " : "no other can take its place: ") +
        failure.message());
  }
  return replaced.ok() ? OkStatus() : failure;
}

}  // namespace shardmill
