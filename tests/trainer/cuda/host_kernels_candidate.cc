#include "tests/trainer/ops/backend_pair.h"
#include "trainer/cuda/ops/host_kernels.h"

namespace shardmill {

std::unique_ptr<OpTable> CreateCandidateOps() {
  return CreateHostKernelOps(ElementType::kF32, KernelOrder::kDescending);
}

}  // namespace shardmill
