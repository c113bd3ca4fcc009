// Errors of the CUDA runtime as Status.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "reader/base/status.h"

namespace shardmill {

// OK for success; else Unavailable: "CUDA cannot WHAT: the runtime's words (name of the error)".
// Takes the error off the runtime's list, so that the next call does not report it again.
Status CudaStatus(cudaError_t code, const std::string& what);

}  // namespace shardmill
