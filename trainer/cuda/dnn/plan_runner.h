// Runs an execution plan on a device.
#pragma once

#include <cuda_runtime_api.h>

#include "reader/base/status.h"
#include "trainer/cuda/dnn/execution_plan.h"

namespace shardmill {

// Addresses on the device; `bias` is null where the plan adds none.
struct ConvolutionAddresses {
  const void* large = nullptr;
  const void* small = nullptr;
  const void* weights = nullptr;
  const void* bias = nullptr;
  void* workspace = nullptr;

  bool operator==(const ConvolutionAddresses& other) const;
};

// What a plan that could not be enqueued says.
enum class PlanFault {
  kPlan,    // another plan may run
  kMemory,  // there was none left for cuDNN, and will be none for another plan
  kDevice,  // the device's context has ended
};

// `code` is cuDNN's, `left` the error that it left with CUDA, `state` that of the stream.
PlanFault FaultOf(cudnnStatus_t code, cudaError_t left, cudaError_t state);

// The addresses as cuDNN wants them. They stay the same from step to step, so they are described
// once. Movable; not for concurrent use.
class PlanRunner {
 public:
  // Enqueues the plan on the stream of the handle.
  Status Run(cudnnHandle_t handle, const ExecutionPlan& plan,
             const ConvolutionAddresses& addresses);
  // How cuDNN took the last one.
  cudnnStatus_t code() const { return code_; }

 private:
  ConvolutionAddresses described_;
  DnnDescriptor pack_;
  cudnnStatus_t code_ = CUDNN_STATUS_SUCCESS;
};

// The variant pack alone, for Run.
Result<DnnDescriptor> DescribeAddresses(const ConvolutionAddresses& addresses);

}  // namespace shardmill
