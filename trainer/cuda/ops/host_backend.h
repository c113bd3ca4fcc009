// The backend that runs kernels in a loop on the host.
#pragma once

#include <memory>
#include <string_view>

#include "trainer/cuda/ops/host_kernels.h"
#include "trainer/ops/host_ops.h"

namespace shardmill {

class HostKernelBackend : public HostOps {
 public:
  HostKernelBackend(ElementType element_type, KernelOrder order);

  std::string_view name() const override { return "cuda-host"; }
  ElementType element_type() const override { return element_type_; }
  Result<std::unique_ptr<ConvolutionOp>> PrepareConvolution(const ConvolutionShape& shape) override;

  template <typename Functor>
  Status Launch(Stream&, int64_t count, const Functor& functor) {
    for (int64_t i = 0; i < count; ++i) {
      functor(order_ == KernelOrder::kAscending ? i : count - 1 - i);
    }
    return OkStatus();
  }

 private:
  ElementType element_type_;
  KernelOrder order_;
  std::unique_ptr<OpTable> reference_;
};

}  // namespace shardmill
