#include "trainer/cuda/plugin.h"

#include <cuda_runtime_api.h>

#include <utility>

#include "trainer/cuda/check_device.h"
#include "trainer/cuda/comm/nccl_communicator.h"
#include "trainer/cuda/device/cuda_ops.h"
#include "trainer/cuda/prepare_plans.h"

namespace shardmill {
namespace {

Result<std::unique_ptr<DeviceCommunicator>> ConnectRanks(CudaRuntime* runtime, StreamHandle compute,
                                                         Communicator* bootstrap,
                                                         const CommunicatorOptions& options) {
  ASSIGN_OR_RETURN(auto nccl,
                   NcclCommunicator::Create({bootstrap, runtime, &LinkedNccl(), compute}, options));
  return std::unique_ptr<DeviceCommunicator>(std::move(nccl));
}

constexpr CudaPlugin kPlugin = {kCudaPluginVersion, CUDART_VERSION, PreparePlans, CheckDevice,
                                CreateCudaOps,      PlanNumbersOf,  ConnectRanks};

}  // namespace
}  // namespace shardmill

extern "C" const shardmill::CudaPlugin* ShardmillCudaPlugin() { return &shardmill::kPlugin; }
