// The kernels on the GPU against the same kernels on the host. That this links proves that all
// kernels which are launched anywhere are among those that were compiled for the GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/trainer/cuda/operation_suite.h"
#include "tests/trainer/cuda/step_suite.h"
#include "tests/trainer/tensor_near.h"
#include "trainer/cuda/kernels/device_launch.h"
#include "trainer/cuda/ops/host_backend.h"
#include "trainer/cuda/ops/kernel_ops.h"
#include "trainer/ops/host_ops.h"

namespace shardmill {
namespace {

Status CheckCuda(cudaError_t error) {
  return error == cudaSuccess ? OkStatus() : UnavailableError(cudaGetErrorString(error));
}

// Memory that host and device both reach, and one stream, waited for after each launch.
class SharedMemoryBackend : public HostOps {
 public:
  explicit SharedMemoryBackend(ElementType type) : type_(type) {}

  std::string_view name() const override { return "cuda"; }
  ElementType element_type() const override { return type_; }
  Result<void*> Allocate(int64_t bytes) override {
    void* memory = nullptr;
    const auto size = static_cast<size_t>(bytes > 0 ? bytes : 1);
    RETURN_IF_ERROR(CheckCuda(cudaMallocManaged(&memory, size, cudaMemAttachGlobal)));
    RETURN_IF_ERROR(CheckCuda(cudaMemset(memory, 0, size)));
    RETURN_IF_ERROR(CheckCuda(cudaDeviceSynchronize()));
    return memory;
  }
  void Free(void* memory) override { cudaFree(memory); }
  Result<std::unique_ptr<ConvolutionOp>> PrepareConvolution(const ConvolutionShape&) override {
    return InternalError("convolutions are not kernels of this project");
  }

  template <typename Functor>
  Status Launch(Stream&, int64_t count, const Functor& functor) {
    RETURN_IF_ERROR(CheckCuda(LaunchOnDevice(cudaStreamPerThread, count, functor)));
    return CheckCuda(cudaDeviceSynchronize());
  }

 private:
  ElementType type_;
};

bool HasDevice() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

using DeviceOps = KernelOps<SharedMemoryBackend>;
using HostKernelOps = KernelOps<HostKernelBackend>;

TEST(DeviceKernels, AgreeWithTheSameKernelsOnTheHost) {
  if (!HasDevice()) GTEST_SKIP() << "no GPU";
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    const double tolerance = type == ElementType::kF32 ? kNormTolerance : kBfloat16Tolerance;
    for (const Shape& shape : {Shape{1, 5, 7, 3}, Shape{2, 9, 6, 17}, Shape{4, 32, 40, 64}}) {
      SCOPED_TRACE(ShapeText(shape));
      DeviceOps device(type);
      HostKernelOps host(type, KernelOrder::kAscending);
      ExpectNearResults(RunOperations(&device, shape, SuiteLabels::kSome),
                        RunOperations(&host, shape, SuiteLabels::kSome), tolerance);
    }
  }
}

TEST(DeviceKernels, StepsHaveTheBitsOfTheSameKernelsOnTheHost) {
  if (!HasDevice()) GTEST_SKIP() << "no GPU";
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    DeviceOps device(type);
    HostKernelOps host(type, KernelOrder::kAscending);
    const auto actual = StepSuite<DeviceOps>(&device).Run();
    const auto expected = StepSuite<HostKernelOps>(&host).Run();
    ExpectSameBits(actual, expected);
  }
}

// Without a device the launch itself says what is missing.
TEST(DeviceKernels, LaunchWithoutADeviceIsAnError) {
  if (HasDevice()) GTEST_SKIP() << "there is a GPU";
  DeviceOps device(ElementType::kF32);
  auto stream = device.CreateStream();
  ASSERT_TRUE(stream.ok());
  float values[4] = {};
  const Status status = device.Add(**stream, 4, values, values);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_FALSE(status.message().empty());
}

}  // namespace
}  // namespace shardmill
