#include "trainer/cuda/runtime/device_code.h"

namespace shardmill {
namespace {

// One thread; writes one number, so that the compiler keeps it.
__global__ void WriteArchitecture(int* architecture) {
#ifdef __CUDA_ARCH__
  *architecture = __CUDA_ARCH__;
#endif
}

}  // namespace

cudaError_t CheckDeviceCode() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, WriteArchitecture);
}

}  // namespace shardmill
