// The op table of GPUs.
#pragma once

#include <memory>
#include <string>

#include "reader/base/status.h"
#include "trainer/cuda/ops/device_op_table.h"
#include "trainer/cuda/plugin.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

// On the current device. See CudaPlugin::create_ops.
Result<std::unique_ptr<DeviceOpTable>> CreateCudaOps(const CudaOpsRequest& request,
                                                     std::string* note);

// Of an op table that CreateCudaOps made, so far.
PlanNumbers PlanNumbersOf(const OpTable& ops);

}  // namespace shardmill
