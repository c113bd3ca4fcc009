#include "trainer/cuda/ops/host_backend.h"

#include <utility>
#include <vector>

#include "trainer/cuda/ops/kernel_backend.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

std::vector<float> Widened(const void* memory, int64_t elements) {
  std::vector<float> values(static_cast<size_t>(elements));
  for (int64_t i = 0; i < elements; ++i) values[i] = ToFloat(As<Bfloat16>(memory)[i]);
  return values;
}

void Narrow(const std::vector<float>& values, void* memory) {
  for (size_t i = 0; i < values.size(); ++i) Assign(values[i], As<Bfloat16>(memory) + i);
}

// A convolution of bf16, computed in f32 from the same numbers.
class WidenedConvolution : public ConvolutionOp {
 public:
  WidenedConvolution(const ConvolutionShape& shape, std::unique_ptr<ConvolutionOp> op)
      : shape_(shape), op_(std::move(op)) {}

  int64_t WorkspaceBytes() const override { return op_->WorkspaceBytes(); }

  Status Forward(Stream& stream, const void* x, const void* weights, const void* bias, void* y,
                 void* workspace) override {
    std::vector<float> wide(shape_.Output().Elements());
    RETURN_IF_ERROR(op_->Forward(stream, Widened(x, shape_.input.Elements()).data(),
                                 Widened(weights, shape_.WeightElements()).data(), bias,
                                 wide.data(), workspace));
    Narrow(wide, y);
    return OkStatus();
  }

  Status BackwardData(Stream& stream, const void* dy, const void* weights, void* dx,
                      void* workspace) override {
    std::vector<float> wide(shape_.input.Elements());
    RETURN_IF_ERROR(op_->BackwardData(stream, Widened(dy, shape_.Output().Elements()).data(),
                                      Widened(weights, shape_.WeightElements()).data(), wide.data(),
                                      workspace));
    Narrow(wide, dx);
    return OkStatus();
  }

  Status BackwardWeights(Stream& stream, const void* x, const void* dy, void* dweights, void* dbias,
                         void* workspace) override {
    RETURN_IF_ERROR(op_->BackwardWeights(stream, Widened(x, shape_.input.Elements()).data(),
                                         Widened(dy, shape_.Output().Elements()).data(), dweights,
                                         dbias, workspace));
    // As on a GPU: see ConvolutionProblem::wide_gradient.
    auto* const gradients = static_cast<float*>(dweights);
    for (int64_t i = 0; i < shape_.WeightElements(); ++i) {
      gradients[i] = Rounded<Bfloat16>(gradients[i]);
    }
    return OkStatus();
  }

 private:
  ConvolutionShape shape_;
  std::unique_ptr<ConvolutionOp> op_;
};

}  // namespace

HostKernelBackend::HostKernelBackend(ElementType element_type, KernelOrder order)
    : element_type_(element_type),
      order_(order),
      reference_(CreateReferenceOps(ElementType::kF32)) {}

Result<std::unique_ptr<ConvolutionOp>> HostKernelBackend::PrepareConvolution(
    const ConvolutionShape& shape) {
  ASSIGN_OR_RETURN(std::unique_ptr<ConvolutionOp> op, reference_->PrepareConvolution(shape));
  if (element_type_ == ElementType::kF32) return op;
  return std::unique_ptr<ConvolutionOp>(new WidenedConvolution(shape, std::move(op)));
}

}  // namespace shardmill
