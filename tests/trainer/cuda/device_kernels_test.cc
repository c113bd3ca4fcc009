// The kernels on the GPU against the same kernels on the host. That this links proves that all
// kernels which are launched anywhere are among those that were compiled for the GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/trainer/cuda/operation_suite.h"
#include "tests/trainer/cuda/plain_device_backend.h"
#include "tests/trainer/cuda/step_suite.h"
#include "tests/trainer/random_tensor.h"
#include "tests/trainer/tensor_near.h"
#include "trainer/cuda/ops/host_backend.h"
#include "trainer/cuda/runtime/device_runtime.h"
#include "trainer/cuda/runtime/step_graph.h"

namespace shardmill {
namespace {

bool HasDevice() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

// Ends a test where a device is required.
bool LacksDevice() {
  if (HasDevice()) return false;
  const char* const required = std::getenv("REQUIRE_GPU");
  EXPECT_TRUE(required == nullptr || std::string(required) != "1") << "no GPU";
  return true;
}

using HostKernelOps = KernelOps<HostKernelBackend>;

TEST(DeviceKernels, AgreeWithTheSameKernelsOnTheHost) {
  if (LacksDevice()) GTEST_SKIP() << "no GPU";
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    const double tolerance = type == ElementType::kF32 ? kNormTolerance : kBfloat16Tolerance;
    for (const Shape& shape : {Shape{1, 5, 7, 3}, Shape{2, 9, 6, 17}, Shape{4, 32, 40, 64}}) {
      SCOPED_TRACE(ShapeText(shape));
      PlainDeviceOps device(type);
      HostKernelOps host(type, KernelOrder::kAscending);
      ExpectNearResults(RunOperations(&device, shape, SuiteLabels::kSome),
                        RunOperations(&host, shape, SuiteLabels::kSome), tolerance);
    }
  }
}

TEST(DeviceKernels, StepsHaveTheBitsOfTheSameKernelsOnTheHost) {
  if (LacksDevice()) GTEST_SKIP() << "no GPU";
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    PlainDeviceOps device(type);
    HostKernelOps host(type, KernelOrder::kAscending);
    const auto actual = StepSuite<PlainDeviceOps>(&device).Run();
    const auto expected = StepSuite<HostKernelOps>(&host).Run();
    ExpectSameBits(actual, expected);
  }
}

// Four steps of y = relu(x + y), x = dropout(y).
std::vector<float> RunSteps(StepGraph* graph) {
  constexpr Shape kShape = {2, 5, 7, 16};
  constexpr int64_t kBytes = kShape.Elements() * static_cast<int64_t>(sizeof(float));
  PlainDeviceOps ops(ElementType::kF32);
  auto stream = ops.CreateStream();
  SHARDMILL_CHECK(stream.ok());
  auto x = DeviceBuffer::Create(&ops, kBytes), y = DeviceBuffer::Create(&ops, kBytes);
  SHARDMILL_CHECK(x.ok() && y.ok());
  std::vector<float> values = RandomTensor<float>(kShape.Elements(), 1, "x");
  SHARDMILL_CHECK(ops.CopyFromHost(**stream, values.data(), kBytes, x->data()).ok());
  const auto step = [&](StreamHandle) {
    RETURN_IF_ERROR(ops.Add(**stream, kShape.Elements(), x->data(), y->data()));
    RETURN_IF_ERROR(ops.ActivationForward(**stream, Activation::kRelu, kShape.Elements(), y->data(),
                                          y->data()));
    return ops.Dropout(**stream, {kShape, 1, 0, 0.25, false}, y->data(), x->data());
  };
  const StreamHandle handle = PlainDeviceBackend::StreamOf(**stream);
  for (int i = 0; i < 4; ++i) {
    SHARDMILL_CHECK((graph == nullptr ? step(handle) : graph->Run("step", handle, step)).ok());
  }
  SHARDMILL_CHECK(ops.CopyToHost(**stream, y->data(), kBytes, values.data()).ok());
  SHARDMILL_CHECK((*stream)->Synchronize().ok());
  return values;
}

TEST(DeviceKernels, CapturedStepsHaveTheBitsOfEagerOnes) {
  if (LacksDevice()) GTEST_SKIP() << "no GPU";
  const auto runtime = CreateDeviceRuntime();
  StepGraph graph(runtime.get());
  const std::vector<float> captured = RunSteps(&graph);
  EXPECT_EQ(graph.note(), "");
  EXPECT_EQ(graph.launched(), 3);
  EXPECT_EQ(captured, RunSteps(nullptr));
  EXPECT_NE(captured, std::vector<float>(captured.size()));
}

// Without a device the runtime says what is missing, and nothing crashes.
TEST(DeviceKernels, WorkWithoutADeviceIsUnavailable) {
  if (HasDevice()) GTEST_SKIP() << "there is a GPU";
  PlainDeviceOps device(ElementType::kF32);
  EXPECT_EQ(device.CreateStream().status().code(), StatusCode::kUnavailable);
  float values[4] = {};
  PlainDeviceStream none(nullptr);
  const Status status = device.Add(none, 4, values, values);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_FALSE(status.message().empty());
}

}  // namespace
}  // namespace shardmill
