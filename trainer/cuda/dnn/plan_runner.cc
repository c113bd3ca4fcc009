#include "trainer/cuda/dnn/plan_runner.h"

#include <utility>
#include <vector>

namespace shardmill {

bool ConvolutionAddresses::operator==(const ConvolutionAddresses& other) const {
  return large == other.large && small == other.small && weights == other.weights &&
         bias == other.bias && workspace == other.workspace;
}

Result<DnnDescriptor> DescribeAddresses(const ConvolutionAddresses& addresses) {
  std::vector<int64_t> ids = {kLargeId, kSmallId, kWeightsId};
  std::vector<const void*> pointers = {addresses.large, addresses.small, addresses.weights};
  if (addresses.bias != nullptr) {
    ids.push_back(kBiasId);
    pointers.push_back(addresses.bias);
  }
  return DnnBuilder(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "the addresses of a convolution")
      .Int64s(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids)
      .Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
           static_cast<int64_t>(pointers.size()), pointers.data())
      .Value(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, addresses.workspace)
      .Finalize();
}

PlanFault FaultOf(cudnnStatus_t code, cudaError_t left, cudaError_t state) {
  if (state != cudaSuccess && state != cudaErrorNotReady) {
    return state == cudaErrorMemoryAllocation ? PlanFault::kMemory : PlanFault::kDevice;
  }
  const bool lacks_memory = left == cudaErrorMemoryAllocation ||
                            code == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ||
                            code == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
  return lacks_memory ? PlanFault::kMemory : PlanFault::kPlan;
}

Status PlanRunner::Run(cudnnHandle_t handle, const ExecutionPlan& plan,
                       const ConvolutionAddresses& addresses) {
  if (pack_.get() == nullptr || !(described_ == addresses)) {
    code_ = CUDNN_STATUS_SUCCESS;
    ASSIGN_OR_RETURN(pack_, DescribeAddresses(addresses));
    described_ = addresses;
  }
  code_ = cudnnBackendExecute(handle, plan.descriptor().get(), pack_.get());
  return DnnStatus(code_, "run a convolution");
}

}  // namespace shardmill
