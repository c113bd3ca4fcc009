#include "trainer/cuda/plugin.h"

#include <cuda_runtime_api.h>

#include <utility>

#include "trainer/cuda/check_device.h"
#include "trainer/cuda/comm/devices_apart.h"
#include "trainer/cuda/comm/nccl_communicator.h"
#include "trainer/cuda/device/cuda_ops.h"
#include "trainer/cuda/prepare_plans.h"
#include "trainer/cuda/runtime/cuda_status.h"

namespace shardmill {
namespace {

// Of the current device; no two in the world have the same.
Result<std::string> DeviceId() {
  int device = 0;
  RETURN_IF_ERROR(CudaStatus(cudaGetDevice(&device), "name the current device"));
  cudaDeviceProp properties;
  RETURN_IF_ERROR(CudaStatus(cudaGetDeviceProperties(&properties, device), "describe the device"));
  return std::string(properties.uuid.bytes, sizeof properties.uuid.bytes);
}

Result<std::unique_ptr<DeviceCommunicator>> ConnectRanks(CudaRuntime* runtime, StreamHandle compute,
                                                         Communicator* bootstrap,
                                                         const CommunicatorOptions& options) {
  ASSIGN_OR_RETURN(const std::string own, DeviceId());
  ASSIGN_OR_RETURN(const std::vector<std::string> ids, bootstrap->Gather(own, "GPUs of the ranks"));
  if (Status status = CheckApart(ids); !status.ok()) return bootstrap->AbortTogether(status);
  ASSIGN_OR_RETURN(auto nccl,
                   NcclCommunicator::Create({bootstrap, runtime, &LinkedNccl(), compute}, options));
  return std::unique_ptr<DeviceCommunicator>(std::move(nccl));
}

constexpr CudaPlugin kPlugin = {kCudaPluginVersion, CUDART_VERSION, PreparePlans, CheckDevice,
                                CreateCudaOps,      PlanNumbersOf,  ConnectRanks};

}  // namespace
}  // namespace shardmill

extern "C" const shardmill::CudaPlugin* ShardmillCudaPlugin() { return &shardmill::kPlugin; }
