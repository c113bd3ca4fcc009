#include "trainer/cuda/device/cuda_convolution.h"

#include <algorithm>

#include "trainer/cuda/dnn/plan_runner.h"
#include "trainer/cuda/dnn/weight_kernels.h"
#include "trainer/cuda/ops/channel_ops.h"

namespace shardmill {
namespace {

// T: elements and weights.
template <typename T>
class CudaConvolution : public ConvolutionOp {
 public:
  CudaConvolution(CudaBackend* backend, const ConvolutionShape& shape,
                  const ConvolutionPlanSet& plans)
      : backend_(*backend), shape_(shape), order_(shape), plans_(plans) {}

  int64_t WorkspaceBytes() const override {
    const Scratch scratch = Place(nullptr);
    return std::max(scratch.bytes, shape_.bias ? FoldBytes<VectorFold, T>(shape_.Output()) : 0);
  }

  Status Forward(Stream& stream, const void* x, const void* weights, const void* bias, void* y,
                 void* workspace) override {
    const Scratch scratch = Place(workspace);
    ConvolutionAddresses addresses = Grids(x, y, scratch);
    ASSIGN_OR_RETURN(addresses.weights, WeightsForDnn(stream, weights, scratch));
    if (plans_.AddsBias()) {
      ASSIGN_OR_RETURN(addresses.bias, BiasForDnn(stream, bias, scratch));
    }
    RETURN_IF_ERROR(Run(stream, ConvolutionPass::kForward, addresses));
    return End(stream, bias, y);
  }

  Status BackwardData(Stream& stream, const void* dy, const void* weights, void* dx,
                      void* workspace) override {
    SHARDMILL_CHECK(shape_.zero_channels == 0);
    const Scratch scratch = Place(workspace);
    ConvolutionAddresses addresses = Grids(dx, dy, scratch);
    ASSIGN_OR_RETURN(addresses.weights, WeightsForDnn(stream, weights, scratch));
    return Run(stream, ConvolutionPass::kBackwardData, addresses);
  }

  Status BackwardWeights(Stream& stream, const void* x, const void* dy, void* dweights, void* dbias,
                         void* workspace) override {
    const Scratch scratch = Place(workspace);
    ConvolutionAddresses addresses = Grids(x, dy, scratch);
    addresses.weights = CopiesGradient() ? scratch.weights : dweights;
    RETURN_IF_ERROR(Run(stream, ConvolutionPass::kBackwardWeights, addresses));
    if (CopiesGradient()) {
      RETURN_IF_ERROR(plans_.RoundsGradient() ? MoveGradient<T>(stream, scratch, dweights)
                                              : MoveGradient<float>(stream, scratch, dweights));
    }
    if (dbias == nullptr) return OkStatus();
    return SumChannels(backend_, stream, shape_.Output(), As<T>(dy), As<float>(dbias), workspace);
  }

 private:
  // What the plan that has run left to do.
  Status End(Stream& stream, const void* bias, void* y) {
    const Shape output = shape_.Output();
    if (shape_.bias && !plans_.AddsBias()) {
      return AddBias(backend_, stream, output, shape_.activation, As<float>(bias), As<T>(y));
    }
    if (shape_.activation == Activation::kNone || plans_.Activates()) return OkStatus();
    const ActivationGate gate(shape_.activation);
    const ActivationForwardKernel<T> kernel = {output.Elements(), gate, As<T>(y), As<T>(y)};
    return backend_.Launch(stream, GroupsOf<T>(output.Elements()), kernel);
  }

  // Parts of the workspace: cuDNN's own, and copies in its order and type.
  struct Scratch {
    void* dnn = nullptr;
    void* weights = nullptr;  // or their gradients
    T* bias = nullptr;
    int64_t bytes = 0;
  };

  // Plans that write f32 may give way to those that round to bf16.
  bool CopiesGradient() const { return order_.ChangesPlaces() || sizeof(T) != sizeof(float); }
  // Weights as cuDNN has them.
  int64_t DnnElements() const { return plans_.problems[0].WeightElements(); }

  // U: of the gradients that cuDNN wrote.
  template <typename U>
  Status MoveGradient(Stream& stream, const Scratch& scratch, void* dweights) {
    const WeightsFromDnnKernel<U, float> move = {order_, As<U>(scratch.weights),
                                                 As<float>(dweights)};
    return backend_.Launch(stream, shape_.WeightElements(), move);
  }

  Scratch Place(void* workspace) const {
    WorkspaceParts parts(workspace);
    Scratch scratch;
    scratch.dnn = parts.Take<char>(plans_.workspace_bytes);
    scratch.weights = parts.Take<float>(CopiesGradient() ? DnnElements() : 0);
    scratch.bias = parts.Take<T>(shape_.bias ? shape_.out_channels : 0);
    scratch.bytes = parts.bytes();
    return scratch;
  }

  // `input` and `output` of the convolution, or their gradients.
  ConvolutionAddresses Grids(const void* input, const void* output, const Scratch& scratch) const {
    ConvolutionAddresses addresses;
    addresses.large = shape_.transposed ? output : input;
    addresses.small = shape_.transposed ? input : output;
    addresses.workspace = scratch.dnn;
    return addresses;
  }

  Result<const void*> WeightsForDnn(Stream& stream, const void* weights, const Scratch& scratch) {
    if (!order_.ChangesPlaces()) return weights;
    if (shape_.zero_channels > 0) {
      const int64_t bytes = DnnElements() * static_cast<int64_t>(sizeof(T));
      RETURN_IF_ERROR(backend_.SetZero(stream, bytes, scratch.weights));
    }
    const WeightsToDnnKernel<T, T> move = {order_, As<T>(weights), As<T>(scratch.weights)};
    RETURN_IF_ERROR(backend_.Launch(stream, shape_.WeightElements(), move));
    return static_cast<const void*>(scratch.weights);
  }

  Result<const void*> BiasForDnn(Stream& stream, const void* bias, const Scratch& scratch) {
    if (sizeof(T) == sizeof(float)) return bias;
    const WeightsToDnnKernel<float, T> round = {WeightOrder(), As<float>(bias), scratch.bias};
    RETURN_IF_ERROR(backend_.Launch(stream, shape_.out_channels, round));
    return static_cast<const void*>(scratch.bias);
  }

  // Until a plan runs; each that fails is another one.
  Status Run(Stream& stream, ConvolutionPass pass, ConvolutionAddresses addresses) {
    const int number = static_cast<int>(pass);
    SHARDMILL_CHECK(plans_.plans[number] != nullptr);
    for (;;) {
      if (pass == ConvolutionPass::kForward && !plans_.AddsBias()) addresses.bias = nullptr;
      const Status status = runners_[number].Run(static_cast<CudaStream&>(stream).dnn(),
                                                 *plans_.plans[number], addresses);
      if (status.ok()) return status;
      RETURN_IF_ERROR(backend_.ReplacePlan(stream, pass, status, runners_[number].code(), &plans_));
    }
  }

  CudaBackend& backend_;
  ConvolutionShape shape_;
  WeightOrder order_;
  ConvolutionPlanSet plans_;
  PlanRunner runners_[3];
};

}  // namespace

std::unique_ptr<ConvolutionOp> CreateCudaConvolution(CudaBackend* backend,
                                                     const ConvolutionShape& shape,
                                                     const ConvolutionPlanSet& plans) {
  if (backend->element_type() == ElementType::kBf16) {
    return std::make_unique<CudaConvolution<Bfloat16>>(backend, shape, plans);
  }
  return std::make_unique<CudaConvolution<float>>(backend, shape, plans);
}

}  // namespace shardmill
