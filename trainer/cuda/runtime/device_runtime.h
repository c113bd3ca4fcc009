// The runtime on the current device of this process.
#pragma once

#include <memory>

#include "trainer/cuda/runtime/runtime.h"

namespace shardmill {

// Out of memory is Unavailable, with what was asked for and what is free.
std::unique_ptr<CudaRuntime> CreateDeviceRuntime();

}  // namespace shardmill
