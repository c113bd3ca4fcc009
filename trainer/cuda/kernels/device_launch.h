// Runs a kernel on the device. The definition is in the .cu files, for the kernels listed there.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace shardmill {

// functor(index) for each index in [0, count), after what the stream holds. Allocates nothing and
// waits for nothing.
template <typename Functor>
cudaError_t LaunchOnDevice(cudaStream_t stream, int64_t count, const Functor& functor);

}  // namespace shardmill
