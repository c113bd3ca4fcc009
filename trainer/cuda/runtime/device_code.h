// Whether the current device can run the kernels of this build.
#pragma once

#include <cuda_runtime_api.h>

namespace shardmill {

// cudaSuccess when there is code for the current device; cudaErrorNoKernelImageForDevice when it
// is too old, cudaErrorNoDevice and the like when there is none. Loads the code, so it may take
// some milliseconds.
cudaError_t CheckDeviceCode();

}  // namespace shardmill
