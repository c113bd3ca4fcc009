#include "trainer/cuda/runtime/cuda_status.h"

namespace shardmill {

Status CudaStatus(cudaError_t code, const std::string& what) {
  if (code == cudaSuccess) return OkStatus();
  cudaGetLastError();
  return UnavailableError("CUDA cannot " + what + ": " + cudaGetErrorString(code) + " (" +
                          cudaGetErrorName(code) + ")");
}

}  // namespace shardmill
