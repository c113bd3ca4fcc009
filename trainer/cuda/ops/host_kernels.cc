#include "trainer/cuda/ops/host_kernels.h"

#include "trainer/cuda/ops/host_backend.h"
#include "trainer/cuda/ops/kernel_ops.h"

namespace shardmill {

std::unique_ptr<OpTable> CreateHostKernelOps(ElementType element_type, KernelOrder order) {
  return std::make_unique<KernelOps<HostKernelBackend>>(element_type, order);
}

}  // namespace shardmill
