// On a GPU: convolutions against the reference, training against the host, the input path, sums of
// one rank. Without one these tests are skipped, or fail where REQUIRE_GPU=1.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/trainer/cuda/device/training_outcome.h"
#include "tests/trainer/cuda/dnn/odd_convolutions.h"
#include "tests/trainer/cuda/step/step_trial.h"
#include "tests/trainer/tensor_near.h"
#include "trainer/comm/self_communicator.h"
#include "trainer/cuda/comm/nccl_communicator.h"
#include "trainer/cuda/device/cuda_ops.h"
#include "trainer/cuda/ops/host_kernels.h"
#include "trainer/cuda/runtime/device_runtime.h"
#include "trainer/cuda/runtime/input_path.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

using Floats = std::vector<float>;

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t found = cudaGetDeviceCount(&devices);
    if (found == cudaSuccess && devices > 0) return;
    const char* required = std::getenv("REQUIRE_GPU");
    ASSERT_TRUE(required == nullptr || std::string(required) != "1") << cudaGetErrorString(found);
    GTEST_SKIP() << "no GPU: " << cudaGetErrorString(found);
  }

  static std::unique_ptr<DeviceOpTable> Ops(MathMode math, bool deterministic = false) {
    CudaOpsRequest request;
    request.math = math;
    request.deterministic = deterministic;
    std::string note;
    auto ops = CreateCudaOps(request, &note);
    SHARDMILL_CHECK(ops.ok());
    return std::move(*ops);
  }
};

// A tensor in the memory of a table.
class Tensor {
 public:
  Tensor(OpTable* ops, Stream* stream, const Floats& values) : Tensor(ops, stream, values.size()) {
    SHARDMILL_CHECK(ops->CopyFromHost(*stream, values.data(), buffer_.bytes(), data()).ok());
  }
  Tensor(OpTable* ops, Stream* stream, size_t elements)
      : ops_(*ops), stream_(*stream), elements_(elements) {
    auto buffer = DeviceBuffer::Create(ops, static_cast<int64_t>(elements * sizeof(float)));
    SHARDMILL_CHECK(buffer.ok());
    buffer_ = std::move(*buffer);
  }
  void* data() const { return buffer_.data(); }
  Floats Read() const {
    Floats values(elements_);
    Must(ops_.CopyToHost(stream_, data(), buffer_.bytes(), values.data()));
    Must(stream_.Synchronize());
    return values;
  }

 private:
  OpTable& ops_;
  Stream& stream_;
  size_t elements_;
  DeviceBuffer buffer_;
};

struct Passes {
  Floats y, dx, dweights, dbias;
};

Floats Absolute(Floats values) {
  for (float& value : values) value = std::abs(value);
  return values;
}

// Of padded images without the data gradient, which they have not.
Passes RunConvolution(OpTable* ops, const ConvolutionShape& shape, bool absolute) {
  const auto made = [&](int64_t elements, const char* name) {
    const Floats values = RandomTensor<float>(elements, 1, name);
    return absolute ? Absolute(values) : values;
  };
  auto op = ops->PrepareConvolution(shape);
  Must(op.status());
  auto stream = ops->CreateStream();
  Must(stream.status());
  const auto upload = [&](const Floats& values) { return Tensor(ops, stream->get(), values); };
  const Tensor x = upload(made(shape.input.Elements(), "x"));
  const Tensor weights = upload(made(shape.WeightElements(), "weights"));
  const Tensor bias = upload(made(shape.out_channels, "bias"));
  const Tensor dy = upload(made(shape.Output().Elements(), "dy"));
  const Tensor y(ops, stream->get(), shape.Output().Elements());
  const Tensor dx(ops, stream->get(), shape.input.Elements());
  const Tensor dweights(ops, stream->get(), shape.WeightElements());
  const Tensor dbias(ops, stream->get(), shape.out_channels);
  const Tensor workspace(ops, stream->get(), ((*op)->WorkspaceBytes() + 64) / sizeof(float));
  Stream& on = **stream;
  void* const scratch = workspace.data();
  Must((*op)->Forward(on, x.data(), weights.data(), bias.data(), y.data(), scratch));
  if (shape.forward_only) return {y.Read(), {}, {}, {}};
  if (shape.zero_channels == 0) {
    Must((*op)->BackwardData(on, dy.data(), weights.data(), dx.data(), scratch));
  }
  Must((*op)->BackwardWeights(on, x.data(), dy.data(), dweights.data(), dbias.data(), scratch));
  return {y.Read(), dx.Read(), dweights.Read(), dbias.Read()};
}

TEST_F(OnGpu, ConvolutionsAgreeWithTheReference) {
  const auto reference = CreateReferenceOps(ElementType::kF32);
  for (const MathMode math : {MathMode::kF32, MathMode::kTf32}) {
    const auto ops = Ops(math);
    // TF32 keeps 11 bits of each factor.
    const double tolerance = math == MathMode::kF32 ? kSumTolerance : 1e-3;
    std::vector<OddConvolution> convolutions = OddConvolutions();
    convolutions.push_back({"PaddedImages", {{2, 19, 23, 8}, 8, SquareWindow(3, 1, 1)}});
    convolutions.back().shape.bias = true;
    convolutions.back().shape.zero_channels = 5;
    for (const OddConvolution& odd : convolutions) {
      const Passes actual = RunConvolution(ops.get(), odd.shape, false);
      const Passes expected = RunConvolution(reference.get(), odd.shape, false);
      const Passes magnitudes = RunConvolution(reference.get(), odd.shape, true);
      EXPECT_TRUE(SumsNear(actual.y, expected.y, magnitudes.y, tolerance)) << odd.name;
      EXPECT_TRUE(SumsNear(actual.dx, expected.dx, magnitudes.dx, tolerance)) << odd.name;
      EXPECT_TRUE(SumsNear(actual.dweights, expected.dweights, magnitudes.dweights, tolerance))
          << odd.name;
      EXPECT_TRUE(SumsNear(actual.dbias, expected.dbias, magnitudes.dbias, kSumTolerance))
          << odd.name;
    }
  }
}

Floats Logits(OpTable* ops, const Samples& samples, bool fuse) {
  GraphOptions options = PixelOptions();
  options.fuse = fuse;
  const auto graph = MakeGraph(SmallUnet(), ops, options);
  for (int step = 0; step < 3; ++step) StepLoss(graph.get(), samples);  // for the statistics
  Must(graph->Forward(samples.images(), Phase::kEvaluation));
  Floats logits(graph->logits_shape().Elements());
  Must(graph->ReadLogits(logits.data()));
  return logits;
}

TEST_F(OnGpu, FusedConvolutionsAgreeWithUnfused) {
  const auto reference = CreateReferenceOps(ElementType::kF32);
  for (const MathMode math : {MathMode::kF32, MathMode::kTf32}) {
    const auto ops = Ops(math);
    const double tolerance = math == MathMode::kF32 ? kSumTolerance : 1e-3;
    for (const OddConvolution& odd : OddConvolutions()) {
      ConvolutionShape shape = odd.shape;
      shape.forward_only = true;
      const Floats magnitudes = RunConvolution(reference.get(), shape, true).y;
      for (const Activation activation : {Activation::kRelu, Activation::kRelu6}) {
        shape.activation = activation;
        const Floats actual = RunConvolution(ops.get(), shape, false).y;
        const Floats expected = RunConvolution(reference.get(), shape, false).y;
        EXPECT_TRUE(SumsNear(actual, expected, magnitudes, tolerance)) << odd.name;
      }
    }
  }
  const Samples samples({2, 32, 48, 3});
  for (const MathMode math : {MathMode::kF32, MathMode::kTf32, MathMode::kBf16}) {
    const auto ops = Ops(math, /*deterministic=*/true);
    const Floats fused = Logits(ops.get(), samples, true);
    const Floats unfused = Logits(ops.get(), samples, false);
    const double tolerance = math == MathMode::kF32 ? 1e-3 : math == MathMode::kTf32 ? 0.02 : 0.1;
    EXPECT_TRUE(TensorNear(fused, unfused, tolerance)) << MathModeName(math);
  }
}

TEST_F(OnGpu, TrainingGoesAsOnTheHost) {
  const Samples samples({2, 32, 48, 3});
  const Case test = {SmallUnet(), PixelOptions(), {}, true};
  const auto host = CreateHostKernelOps(ElementType::kF32, KernelOrder::kAscending);
  const auto ops = Ops(MathMode::kF32);
  const Outcome expected = Train(test, host.get(), samples.images(), samples.labels());
  const Outcome actual = Train(test, ops.get(), samples.images(), samples.labels());
  EXPECT_TRUE(TensorNear(actual.losses, expected.losses, 1e-4));
  EXPECT_TRUE(TensorNear(actual.values, expected.values, 1e-3));
  EXPECT_TRUE(TensorNear(actual.statistics, expected.statistics, 1e-2));
}

// The steps of training itself: input kernel, forward to update, one graph.
TEST_F(OnGpu, WholeStepsTrainAsOnTheHostAndCapturedAsEager) {
  const std::vector<Samples> batches(12, BatchOf(1, {2, 32, 48, 3}));
  for (const MathMode math : {MathMode::kF32, MathMode::kTf32, MathMode::kBf16}) {
    StepTrial trial;
    trial.average = 0.9;
    const auto host = CreateHostKernelOps(trial.type, KernelOrder::kAscending);
    const TrialOutcome expected = TrainOnHost(trial, host.get(), batches);
    if (math == MathMode::kBf16) trial.type = ElementType::kBf16;
    TrialOutcome outcomes[2];
    for (const bool capture : {false, true}) {
      trial.capture = capture;
      DeviceTrial device(trial, Ops(math, /*deterministic=*/true));
      outcomes[capture] = device.Train(batches);
      EXPECT_EQ(device.step().graphs_launched() > 0, capture) << device.step().note();
    }
    EXPECT_EQ(outcomes[0].losses, outcomes[1].losses);
    EXPECT_EQ(outcomes[0].values, outcomes[1].values);
    const double tolerance = math == MathMode::kF32 ? 1e-3 : math == MathMode::kTf32 ? 0.02 : 0.1;
    for (size_t i = 0; i < batches.size(); ++i) {
      EXPECT_NEAR(outcomes[1].losses[i], expected.losses[i], tolerance) << "step " << i;
    }
  }
}

// Passes of two rows and of one; gradients stay on the device.
TEST_F(OnGpu, PassesTrainAsOnTheHostAndCapturedAsEager) {
  const std::vector<Samples> batches(6, BatchOf(1, {3, 16, 24, 3}));
  StepTrial trial;
  trial.passes = 2;
  const auto host = CreateHostKernelOps(trial.type, KernelOrder::kAscending);
  const TrialOutcome expected = TrainOnHost(trial, host.get(), batches);
  TrialOutcome outcomes[2];
  for (const bool capture : {false, true}) {
    trial.capture = capture;
    DeviceTrial device(trial, Ops(MathMode::kF32, /*deterministic=*/true));
    outcomes[capture] = device.Train(batches);
    EXPECT_EQ(device.step().graphs_launched() > 0, capture) << device.step().note();
  }
  EXPECT_EQ(outcomes[0].losses, outcomes[1].losses);
  EXPECT_EQ(outcomes[0].values, outcomes[1].values);
  EXPECT_TRUE(TensorNear(outcomes[1].losses, expected.losses, 1e-3));
}

// As a rank of a job that has no other: its sums on their own stream are part of the graph, and
// the graph goes before NCCL does.
TEST_F(OnGpu, CapturedStepsSumThroughNccl) {
  const std::vector<Samples> batches(8, BatchOf(1, {2, 32, 48, 3}));
  StepTrial trial;
  trial.model = SmallUnet(1);
  const auto host = CreateHostKernelOps(trial.type, KernelOrder::kAscending);
  const TrialOutcome expected = TrainOnHost(trial, host.get(), batches);
  for (const bool capture : {false, true}) {
    trial.capture = capture;
    DeviceTrial device(trial, Ops(MathMode::kF32));
    const auto bootstrap = CreateSelfCommunicator();
    const StreamHandle compute = device.ops().HandleOf(device.graph_stream());
    auto nccl = NcclCommunicator::Create(
        {bootstrap.get(), device.ops().runtime(), &LinkedNccl(), compute}, CommunicatorOptions());
    ASSERT_TRUE(nccl.ok()) << nccl.status().ToString();
    Must(device.Start(nccl->get()));
    for (const Samples& batch : batches) Must(device.Step(batch));
    Must(device.Finish());
    EXPECT_EQ(device.step().graphs_launched() > 0, capture) << device.step().note();
    EXPECT_TRUE(TensorNear(device.outcome().losses, expected.losses, 1e-3));
    device.Close();
  }
}

TEST_F(OnGpu, BatchesArriveThroughTheInputPath) {
  const auto runtime = CreateDeviceRuntime();
  const StreamHandle compute = *runtime->CreateStream();
  constexpr int64_t kBytes = 1 << 20;
  char* pinned[3];
  for (char*& buffer : pinned) buffer = static_cast<char*>(*runtime->AllocatePinned(kBytes));
  char* const back = static_cast<char*>(*runtime->AllocatePinned(kBytes));
  {
    const auto path = InputPath::Create(runtime.get(), {kBytes, 2, 2});
    ASSERT_TRUE(path.ok()) << path.status().ToString();
    for (int batch = 0; batch < 12; ++batch) {
      char* const buffer = pinned[batch % 3];
      std::fill_n(buffer, kBytes, static_cast<char>('a' + batch));
      ASSERT_TRUE((*path)->Push({{buffer, kBytes}}, [] {}).ok());
      const auto pieces = (*path)->Take(compute);
      ASSERT_TRUE(pieces.ok());
      ASSERT_TRUE(runtime->CopyToHost(compute, pieces->front(), kBytes, back).ok());
      ASSERT_TRUE((*path)->Release(compute).ok());
      ASSERT_TRUE(runtime->SynchronizeStream(compute).ok());
      EXPECT_EQ(std::string(back, kBytes), std::string(kBytes, static_cast<char>('a' + batch)));
    }
  }
  for (char* buffer : pinned) EXPECT_TRUE(runtime->FreePinned(buffer).ok());
  EXPECT_TRUE(runtime->FreePinned(back).ok());
  EXPECT_TRUE(runtime->DestroyStream(compute).ok());
}

TEST_F(OnGpu, OneRankSumsThroughNccl) {
  const auto runtime = CreateDeviceRuntime();
  const auto bootstrap = CreateSelfCommunicator();
  const StreamHandle compute = *runtime->CreateStream();
  auto nccl = NcclCommunicator::Create({bootstrap.get(), runtime.get(), &LinkedNccl(), compute},
                                       CommunicatorOptions());
  ASSERT_TRUE(nccl.ok()) << nccl.status().ToString();
  auto* const values = static_cast<float*>(*runtime->AllocateShared(1000 * sizeof(float)));
  for (int i = 0; i < 1000; ++i) values[i] = static_cast<float>(i);
  const auto call = (*nccl)->StartSum(values, 1000, SumType::kF32, "test");
  ASSERT_TRUE(call.ok()) << call.status().ToString();
  ASSERT_TRUE((*nccl)->Wait(*call).ok());
  const EventHandle done = *runtime->CreateEvent();
  ASSERT_TRUE(runtime->RecordEvent(done, compute).ok());
  ASSERT_TRUE((*nccl)->AwaitDevice(done, "test").ok());
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(values[i], static_cast<float>(i));
  EXPECT_TRUE((*nccl)->Close().ok());
  EXPECT_TRUE(runtime->FreeDevice(values).ok());
  EXPECT_TRUE(runtime->DestroyEvent(done).ok());
}

}  // namespace
}  // namespace shardmill
