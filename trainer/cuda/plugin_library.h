// Opens libshardmill_cuda.so and hands out its table.
#pragma once

#include "reader/base/status.h"
#include "trainer/cuda/plugin.h"

namespace shardmill {

// The plug-in in the folder of the running program; it stays open until the process ends. Needs no
// driver and no GPU. Unavailable says which file or library is missing or does not fit.
Result<const CudaPlugin*> OpenCudaPlugin();

// A device of this machine that this build can compute on, made current. Unavailable says all
// that is missing: driver, GPU, plug-in, library, version.
struct CudaDevice {
  const CudaPlugin* plugin = nullptr;
  std::string name;
};
Result<CudaDevice> OpenCudaDevice(int device);

}  // namespace shardmill
