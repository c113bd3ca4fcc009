// The op table of a device that is simulated on the host: the kernels of the GPU, run one index
// after the other, behind the streams and events of a SimulatedRuntime. Everything that runs on a
// GPU runs on it through the same code; slow, for tests and for finding faults.
#pragma once

#include <memory>

#include "trainer/cuda/ops/device_op_table.h"
#include "trainer/cuda/simulated/simulated_runtime.h"

namespace shardmill {

// `element_type` is kF32 or kBf16. The runtime goes with the table.
std::unique_ptr<DeviceOpTable> CreateSimulatedOps(ElementType element_type,
                                                  std::unique_ptr<SimulatedRuntime> runtime);

}  // namespace shardmill
