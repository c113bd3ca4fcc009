// Runs an execution plan on a device.
#pragma once

#include <array>

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

// The addresses as cuDNN wants them. They stay the same from step to step, so they are described
// once. Movable; not for concurrent use.
class PlanRunner {
 public:
  // Enqueues the plan on the stream of the handle.
  Status Run(cudnnHandle_t handle, const ExecutionPlan& plan,
             const ConvolutionAddresses& addresses);

 private:
  ConvolutionAddresses described_;
  DnnDescriptor pack_;
};

// The variant pack alone, for Run.
Result<DnnDescriptor> DescribeAddresses(const ConvolutionAddresses& addresses);

}  // namespace shardmill
