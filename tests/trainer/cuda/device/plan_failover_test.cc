// On a GPU: each plan that would take the place of one that fails computes the same.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/trainer/random_tensor.h"
#include "tests/trainer/tensor_near.h"
#include "trainer/cuda/dnn/convolution_plan_set.h"
#include "trainer/cuda/dnn/plan_runner.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

using Floats = std::vector<float>;

constexpr int kMostPlans = 40;

ConvolutionShape Example() {
  ConvolutionShape shape;
  shape.input = {2, 15, 18, 16};
  shape.out_channels = 24;
  shape.window = SquareWindow(3, 1, 1);
  shape.bias = true;
  shape.activation = Activation::kRelu;
  shape.forward_only = true;
  return shape;
}

// What the problem makes, and how large its terms are.
Floats Expected(const ConvolutionProblem& problem, Floats x, Floats weights, Floats bias,
                bool magnitudes) {
  const auto ops = CreateReferenceOps(ElementType::kF32);
  ConvolutionShape shape = Example();
  shape.bias = problem.bias;
  shape.activation = magnitudes ? Activation::kNone : problem.activation;
  if (magnitudes) {
    for (Floats* const values : {&x, &weights, &bias}) {
      for (float& value : *values) value = std::abs(value);
    }
  }
  auto op = ops->PrepareConvolution(shape);
  auto stream = ops->CreateStream();
  SHARDMILL_CHECK(op.ok() && stream.ok());
  Floats y(shape.Output().Elements());
  SHARDMILL_CHECK((*op)
                      ->Forward(**stream, x.data(), weights.data(),
                                problem.bias ? bias.data() : nullptr, y.data(), nullptr)
                      .ok());
  return y;
}

// Memory that both sides use, in turn.
class Managed {
 public:
  explicit Managed(size_t bytes) {
    SHARDMILL_CHECK(cudaMallocManaged(&data_, bytes + 256) == cudaSuccess);
  }
  explicit Managed(const Floats& values) : Managed(values.size() * sizeof(float)) {
    std::copy(values.begin(), values.end(), static_cast<float*>(data_));
  }
  Managed(const Managed&) = delete;
  ~Managed() { cudaFree(data_); }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

TEST(PlanFailover, EveryPlanThatMayTakeAnothersPlaceAgreesWithTheReference) {
  int devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  if (found != cudaSuccess || devices == 0) {
    const char* const required = std::getenv("REQUIRE_GPU");
    ASSERT_TRUE(required == nullptr || std::string(required) != "1") << cudaGetErrorString(found);
    GTEST_SKIP() << "no GPU: " << cudaGetErrorString(found);
  }
  const ConvolutionShape shape = Example();
  const Floats x = RandomTensor<float>(shape.input.Elements(), 1, "x");
  const Floats weights = RandomTensor<float>(shape.WeightElements(), 1, "weights");
  const Floats bias = RandomTensor<float>(shape.out_channels, 1, "bias");
  auto device = DeviceDescription::OfDevice(0);
  ASSERT_TRUE(device.ok()) << device.status().ToString();
  ConvolutionPlans plans(std::move(*device), nullptr);
  auto set = ConvolutionPlanSet::Find(shape, MathMode::kF32, false, &plans);
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  const Managed on_x(x), on_weights(weights), on_bias(bias);
  const Managed y(shape.Output().Elements() * sizeof(float)), workspace(set->workspace_bytes);
  cudnnHandle_t handle = nullptr;
  ASSERT_EQ(cudnnCreate(&handle), CUDNN_STATUS_SUCCESS);
  int agreed = 0;
  do {
    const ConvolutionProblem& problem = set->problems[0];
    PlanRunner runner;
    const Status run = runner.Run(handle, *set->plans[0],
                                  {on_x.data(), y.data(), on_weights.data(),
                                   problem.bias ? on_bias.data() : nullptr, workspace.data()});
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << set->plans[0]->name();
    if (!run.ok()) continue;  // such a plan is what the others are for
    const auto* const first = static_cast<const float*>(y.data());
    EXPECT_TRUE(SumsNear(Floats(first, first + shape.Output().Elements()),
                         Expected(problem, x, weights, bias, false),
                         Expected(problem, x, weights, bias, true), kSumTolerance))
        << ProblemText(problem) << " " << set->plans[0]->name();
    ++agreed;
  } while (agreed < kMostPlans && set->Replace(ConvolutionPass::kForward, &plans).ok());
  EXPECT_GT(agreed, 1);
  cudnnDestroy(handle);
}

}  // namespace
}  // namespace shardmill
