// Plans for the convolutions of a model and a described device.
#pragma once

#include "reader/base/status.h"
#include "trainer/cuda/plugin.h"

namespace shardmill {

// InvalidArgument when the description is none, Io when the cache cannot be written. A shape
// without plans is no error; its row says so.
Result<PlanReport> PreparePlans(const PlanRequest& request);

}  // namespace shardmill
