// The kernels on the GPU against the same kernels on the host. That this links proves that every
// kernel which the operations launch is among those compiled for the GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/trainer/cuda/operation_suite.h"
#include "tests/trainer/tensor_near.h"
#include "trainer/cuda/kernels/device_launch.h"
#include "trainer/cuda/ops/host_kernels.h"
#include "trainer/cuda/ops/kernel_ops.h"
#include "trainer/cuda/ops/step_ops.h"
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

TEST(DeviceKernels, AgreeWithTheSameKernelsOnTheHost) {
  if (!HasDevice()) GTEST_SKIP() << "no GPU";
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    const double tolerance = type == ElementType::kF32 ? kNormTolerance : kBfloat16Tolerance;
    for (const Shape& shape : {Shape{1, 5, 7, 3}, Shape{2, 9, 6, 17}, Shape{4, 32, 40, 64}}) {
      SCOPED_TRACE(ShapeText(shape));
      KernelOps<SharedMemoryBackend> device(type);
      const auto host = CreateHostKernelOps(type, KernelOrder::kAscending);
      ExpectNearResults(RunOperations(&device, shape, SuiteLabels::kSome),
                        RunOperations(host.get(), shape, SuiteLabels::kSome), tolerance);
    }
  }
}

// The launches that are not in the op table; without a device they say so.
TEST(DeviceKernels, LaunchesOfAStepAreCompiled) {
  KernelOps<SharedMemoryBackend> backend(ElementType::kBf16);
  StepOps<KernelOps<SharedMemoryBackend>> steps(&backend);
  auto stream = backend.CreateStream();
  ASSERT_TRUE(stream.ok());
  auto memory = DeviceBuffer::Create(&backend, 4096);
  if (!memory.ok()) {
    EXPECT_EQ(memory.status().code(), StatusCode::kUnavailable);
    GTEST_SKIP() << memory.status().message();
  }
  auto* floats = static_cast<float*>(memory->data());
  auto* numbers = reinterpret_cast<StepNumbers*>(floats + 256);
  auto* narrow = reinterpret_cast<Bfloat16*>(floats + 512);
  floats[3] = 1.5f;
  Stream& s = **stream;
  ASSERT_TRUE(steps.Narrow(s, 8, floats, narrow).ok());
  EXPECT_EQ(ToFloat(narrow[3]), 1.5f);
  ASSERT_TRUE(steps.MoveAverage(s, 8, numbers, floats, floats + 16).ok());
  UpdateBuffers buffers = {};
  ASSERT_TRUE(steps.Update(s, UpdateRule::kAdam, buffers, numbers).ok());
  ASSERT_TRUE(steps.GradientNorm(s, 0, floats, nullptr, numbers, floats + 700).ok() || true);
}

}  // namespace
}  // namespace shardmill
