#include "trainer/cuda/device/cuda_ops.h"

#include <utility>

#include "trainer/cuda/device/cuda_backend.h"
#include "trainer/cuda/runtime/device_runtime.h"

namespace shardmill {

Result<std::unique_ptr<DeviceOpTable>> CreateCudaOps(const CudaOpsRequest& request,
                                                     std::string* note) {
  int device = 0;
  RETURN_IF_ERROR(CudaStatus(cudaGetDevice(&device), "name the current device"));
  CudaBackendParts parts;
  parts.math = request.math;
  parts.deterministic = request.deterministic;
  parts.say = request.say;
  parts.runtime = CreateDeviceRuntime(request.was_interrupted);
  parts.cache = std::make_unique<PlanCache>();
  if (!request.plan_cache.empty()) {
    ASSIGN_OR_RETURN(*parts.cache, PlanCache::Open(request.plan_cache, note));
  }
  ASSIGN_OR_RETURN(DeviceDescription description, DeviceDescription::OfDevice(device));
  parts.plans = std::make_unique<ConvolutionPlans>(std::move(description), parts.cache.get());
  return std::unique_ptr<DeviceOpTable>(new DeviceKernelOps<CudaBackend>(std::move(parts)));
}

PlanNumbers PlanNumbersOf(const OpTable& ops) {
  const PlanCounts& counts = static_cast<const CudaBackend&>(ops).parts().plans->counts();
  return {counts.built, counts.loaded, counts.refused};
}

}  // namespace shardmill
