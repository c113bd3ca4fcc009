// The NVIDIA driver of this machine, asked without any library of CUDA.
#pragma once

#include <string>

#include "reader/base/status.h"

namespace shardmill {

struct CudaDriver {
  int version = 0;  // 13000: the newest CUDA that it supports
  int devices = 0;  // at least 1
};

// Unavailable when there is no driver, when it does not work, or when it sees no GPU; says which.
Result<CudaDriver> FindCudaDriver();

// "13.0" for 13000.
std::string CudaVersionText(int version);

}  // namespace shardmill
