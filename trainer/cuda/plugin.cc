#include "trainer/cuda/plugin.h"

#include <cuda_runtime_api.h>

#include "trainer/cuda/check_device.h"
#include "trainer/cuda/device/cuda_ops.h"
#include "trainer/cuda/prepare_plans.h"

namespace shardmill {
namespace {

constexpr CudaPlugin kPlugin = {kCudaPluginVersion, CUDART_VERSION, PreparePlans, CheckDevice,
                                CreateCudaOps};

}  // namespace
}  // namespace shardmill

extern "C" const shardmill::CudaPlugin* ShardmillCudaPlugin() { return &shardmill::kPlugin; }
