// The kernels of the GPU on the host: the same code, one index after the other. For tests, slow.
#pragma once

#include <memory>

#include "trainer/ops/op_table.h"

namespace shardmill {

// In which order the host goes through the indices of a kernel. Results do not depend on it.
enum class KernelOrder { kAscending, kDescending };

// Convolutions are those of the reference. `element_type` is kF32 or kBf16; of kBf16, convolutions
// take weights of bf16 and a bias of f32, and make gradients of f32 for both.
std::unique_ptr<OpTable> CreateHostKernelOps(ElementType element_type, KernelOrder order);

}  // namespace shardmill
