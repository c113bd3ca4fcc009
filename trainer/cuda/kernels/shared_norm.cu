// Kernels of shared_norm.h.
#include "trainer/cuda/kernels/shared_norm.h"

#include "trainer/cuda/kernels/device_launch.cuh"

namespace shardmill {

template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const PackMomentsKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const UnpackMomentsKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const PackVectorsKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const UnpackVectorsKernel&);

}  // namespace shardmill
