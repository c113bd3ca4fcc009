#pragma once

#include <memory>

#include "trainer/ops/op_table.h"

namespace shardmill {

// f32 on the host: oneDNN for convolutions, own vector code for the rest. Uses OpenMP's threads;
// their number must not change after the first convolution was prepared.
Result<std::unique_ptr<OpTable>> CreateOnednnOps();

}  // namespace shardmill
