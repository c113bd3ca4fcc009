#include "trainer/cuda/device/cuda_backend.h"

#include <utility>

#include "trainer/cuda/device/cuda_convolution.h"

namespace shardmill {
namespace {

CudaStream& AsCuda(Stream& stream) { return static_cast<CudaStream&>(stream); }

// Copies of pageable memory have read it when they return; those of pinned memory have not.
Result<bool> IsPinned(const void* host) {
  cudaPointerAttributes attributes;
  RETURN_IF_ERROR(CudaStatus(cudaPointerGetAttributes(&attributes, host), "look at host memory"));
  return attributes.type == cudaMemoryTypeHost;
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
  // On the default stream, which the streams of the runtime do not wait for: hence the wait.
  Status status = CudaStatus(cudaMemset(memory, 0, static_cast<size_t>(bytes)), "zero memory");
  if (status.ok()) status = CudaStatus(cudaDeviceSynchronize(), "zero memory");
  if (status.ok()) return memory;
  Free(memory);
  return status;
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
  RETURN_IF_ERROR(parts_.runtime->CopyToDevice(handle, host, bytes, memory));
  ASSIGN_OR_RETURN(const bool pinned, IsPinned(host));
  return pinned ? parts_.runtime->SynchronizeStream(handle) : OkStatus();
}

Status CudaBackend::CopyToHost(Stream& stream, const void* memory, int64_t bytes, void* host) {
  return parts_.runtime->CopyToHost(AsCuda(stream).handle(), memory, bytes, host);
}

Status CudaBackend::SetZero(Stream& stream, int64_t bytes, void* memory) {
  return parts_.runtime->SetZero(AsCuda(stream).handle(), bytes, memory);
}

Result<std::unique_ptr<ConvolutionOp>> CudaBackend::PrepareConvolution(
    const ConvolutionShape& shape) {
  ASSIGN_OR_RETURN(
      ConvolutionPlanSet plans,
      ConvolutionPlanSet::Find(shape, parts_.math, parts_.deterministic, parts_.plans.get()));
  if (parts_.cache != nullptr) RETURN_IF_ERROR(parts_.cache->Save());
  return CreateCudaConvolution(this, shape, plans);
}

}  // namespace shardmill
