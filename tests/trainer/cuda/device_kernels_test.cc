// The kernels on the GPU against the same kernels on the host. That this links proves that all
// kernels which are launched anywhere are among those that were compiled for the GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tests/trainer/cuda/operation_suite.h"
#include "tests/trainer/cuda/plain_device_backend.h"
#include "tests/trainer/cuda/step_suite.h"
#include "tests/trainer/tensor_near.h"
#include "trainer/cuda/ops/host_backend.h"

namespace shardmill {
namespace {

bool HasDevice() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

using HostKernelOps = KernelOps<HostKernelBackend>;

TEST(DeviceKernels, AgreeWithTheSameKernelsOnTheHost) {
  if (!HasDevice()) GTEST_SKIP() << "no GPU";
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
  if (!HasDevice()) GTEST_SKIP() << "no GPU";
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    PlainDeviceOps device(type);
    HostKernelOps host(type, KernelOrder::kAscending);
    const auto actual = StepSuite<PlainDeviceOps>(&device).Run();
    const auto expected = StepSuite<HostKernelOps>(&host).Run();
    ExpectSameBits(actual, expected);
  }
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
