// The definition of LaunchOnDevice, for the .cu files that list their kernels.
#pragma once

#include "trainer/cuda/kernels/device_launch.h"

namespace shardmill {

constexpr int kThreadsPerBlock = 256;

// One thread per index, neighbouring threads at neighbouring indices. Bound by memory: functors
// move 16 bytes at once where the layout allows it.
template <typename Functor>
__global__ void __launch_bounds__(kThreadsPerBlock) RunFunctor(int64_t count, Functor functor) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kThreadsPerBlock + threadIdx.x;
  if (index < count) functor(index);
}

template <typename Functor>
cudaError_t LaunchOnDevice(cudaStream_t stream, int64_t count, const Functor& functor) {
  constexpr int64_t kMaxBlocks = (int64_t{1} << 31) - 1;
  if (count <= 0) return cudaSuccess;
  const int64_t blocks = (count + kThreadsPerBlock - 1) / kThreadsPerBlock;
  if (blocks > kMaxBlocks) return cudaErrorInvalidConfiguration;
  RunFunctor<<<static_cast<unsigned>(blocks), kThreadsPerBlock, 0, stream>>>(count, functor);
  return cudaGetLastError();
}

}  // namespace shardmill
