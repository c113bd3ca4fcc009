#include "trainer/cuda/step/device_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/trainer/cuda/step/step_trial.h"
#include "trainer/comm/self_communicator.h"
#include "trainer/engine/batch_engine.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

std::vector<Samples> Batches(int count) {
  std::vector<Samples> batches;
  for (int i = 0; i < count; ++i) batches.push_back(BatchOf(i));
  return batches;
}

// Dropout in front of the last layer.
ModelSpec WithDropout() {
  ModelSpec model = SmallUnet();
  LayerSpec& last = model.layers.back();
  LayerSpec drop;
  drop.name = "drop";
  drop.kind = LayerKind::kDropout;
  drop.inputs = last.inputs;
  drop.drop = 0.3;
  last.inputs = {"drop"};
  model.layers.insert(model.layers.end() - 1, drop);
  return model;
}

// The same kernels and the same arithmetic of the update: the same bits, however late the device
// runs and whether its steps are captured.
void ExpectBitsOfTheHost(StepTrial trial, int steps) {
  const auto ops = CreateHostKernelOps(trial.type, KernelOrder::kAscending);
  const TrialOutcome expected = TrainOnHost(trial, ops.get(), Batches(steps));
  for (const bool capture : {false, true}) {
    trial.capture = capture;
    DeviceTrial device(trial);
    const TrialOutcome outcome = device.Train(Batches(steps));
    EXPECT_EQ(outcome.losses, expected.losses);
    EXPECT_EQ(outcome.values, expected.values);
    EXPECT_EQ(outcome.statistics, expected.statistics);
    EXPECT_EQ(outcome.average, expected.average);
    EXPECT_EQ(device.step().graphs_launched() > 0, capture);
    EXPECT_EQ(device.step().note().empty(), capture) << device.step().note();
    EXPECT_TRUE(device.runtime().misuses().empty());
    for (size_t i = 0; i < expected.norms.size(); ++i) {
      EXPECT_NEAR(outcome.norms[i], expected.norms[i], 1e-9 * expected.norms[i]);
    }
  }
}

TEST(DeviceStep, F32TrainsToTheBitsOfTheHost) {
  StepTrial trial;
  trial.loss.class_weights = {1, 2, 0.5f, 1, 1.5f};
  trial.loss.ignore = 3;
  trial.average = 0.9;
  ExpectBitsOfTheHost(trial, 8);
}

TEST(DeviceStep, Bf16TrainsMasterWeightsToTheBitsOfTheHost) {
  StepTrial trial;
  trial.type = ElementType::kBf16;
  trial.optimizer.kind = OptimizerKind::kSgd;
  ExpectBitsOfTheHost(trial, 6);
}

// The device's network has padded images; its weights, and so its files and hashes, do not show it.
TEST(DeviceStep, ImagesArePaddedForTheDeviceOnly) {
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    StepTrial trial;
    trial.type = type;
    DeviceTrial device(trial);
    const TrialOutcome outcome = device.Train(Batches(2));
    const int64_t channels = type == ElementType::kBf16 ? 8 : 4;
    EXPECT_EQ(GraphStep(&device.graph()).input_shape(), (Shape{2, 8, 16, channels}));
    const auto host = CreateHostKernelOps(type, KernelOrder::kAscending);
    const auto graph = MakeGraph(trial.model, host.get(), PixelOptions());
    EXPECT_EQ(graph->parameters().parameter_elements(), device.store().parameter_elements());
    EXPECT_EQ(graph->parameters().parameters().front().dims,
              device.store().parameters().front().dims);
    // An evaluation pads them too.
    const Samples samples = BatchOf(7);
    const TrialOutcome expected = TrainOnHost(trial, host.get(), Batches(2));
    std::copy(expected.values.begin(), expected.values.end(), graph->parameters().values());
    std::copy(expected.statistics.begin(), expected.statistics.end(),
              graph->parameters().running_statistics());
    ASSERT_TRUE(graph->parameters().NarrowValues().ok());
    std::vector<float> logits[2];
    int number = 0;
    for (Graph* each : {graph.get(), &device.graph()}) {
      ASSERT_TRUE(each->Forward(samples.images(), Phase::kEvaluation).ok());
      logits[number].resize(each->logits_shape().Elements());
      ASSERT_TRUE(each->ReadLogits(logits[number++].data()).ok());
    }
    EXPECT_EQ(logits[0], logits[1]);
    EXPECT_EQ(outcome.values, expected.values);
  }
}

TEST(DeviceStep, DropoutHasAnotherMaskInEachCapturedStep) {
  StepTrial trial;
  trial.model = WithDropout();
  ExpectBitsOfTheHost(trial, 6);
}

std::vector<Samples> LargerBatches(int count) {
  std::vector<Samples> batches;
  for (int i = 0; i < count; ++i) batches.push_back(BatchOf(i, {5, 8, 16, 3}));
  return batches;
}

// Passes of two and of one row, each with its own dropout and weights; gradients never leave the
// device.
TEST(DeviceStep, PassesTrainToTheBitsOfTheHost) {
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    StepTrial trial;
    trial.model = WithDropout();
    trial.type = type;
    trial.passes = 3;
    trial.loss.class_weights = {1, 2, 0.5f, 1, 1.5f};
    trial.loss.ignore = 3;
    trial.loss.dice = 0.5;
    trial.average = 0.9;
    const auto ops = CreateHostKernelOps(type, KernelOrder::kAscending);
    const std::vector<Samples> batches = LargerBatches(6);
    const TrialOutcome expected = TrainOnHost(trial, ops.get(), batches);
    for (const bool capture : {false, true}) {
      trial.capture = capture;
      DeviceTrial device(trial);
      const TrialOutcome outcome = device.Train(batches);
      EXPECT_EQ(outcome.losses, expected.losses);
      EXPECT_EQ(outcome.values, expected.values);
      EXPECT_EQ(outcome.statistics, expected.statistics);
      EXPECT_EQ(outcome.average, expected.average);
      EXPECT_EQ(device.step().graphs_launched() > 0, capture);
    }
  }
}

// The gradients of a step in passes are copied nowhere: the host gets its numbers, and no more.
TEST(DeviceStep, PassesLeaveTheirGradientsOnTheDevice) {
  StepTrial trial;
  trial.passes = 2;
  DeviceTrial device(trial);
  ASSERT_TRUE(device.Start(nullptr, 5).ok());
  for (const Samples& samples : LargerBatches(4)) ASSERT_TRUE(device.Step(samples).ok());
  int copies = 0;
  const int64_t few = 1024;
  for (const RecordedStep& step : device.runtime().log()) {
    if (step.kind != RecordedStep::Kind::kStreamWork) continue;
    if (step.name != "copy to host" && step.name != "copy to pageable memory") continue;
    ++copies;
    for (const MemorySpan& read : step.reads) EXPECT_LT(read.bytes, few);
  }
  EXPECT_EQ(copies, 4);
  EXPECT_GT(device.store().parameter_elements(), few);
  ASSERT_TRUE(device.Finish().ok());
}

// The oracle of all backends, with the gradient clipped.
TEST(DeviceStep, OverfitsWithTheLossesOfTheReference) {
  StepTrial trial;
  trial.clip_norm = 0.5;
  trial.rate = 0.02;
  const std::vector<Samples> batches(16, BatchOf(1));
  const auto reference = CreateReferenceOps(ElementType::kF32);
  const auto onednn = CpuOps();
  const TrialOutcome expected = TrainOnHost(trial, reference.get(), batches);
  const TrialOutcome other = TrainOnHost(trial, onednn.get(), batches);
  DeviceTrial device(trial);
  const TrialOutcome outcome = device.Train(batches);
  EXPECT_LT(expected.losses.back(), 0.75 * expected.losses.front());
  for (size_t i = 0; i < batches.size(); ++i) {
    EXPECT_NEAR(outcome.losses[i], expected.losses[i], 0.005) << "step " << i;
    EXPECT_NEAR(outcome.losses[i], other.losses[i], 0.005) << "step " << i;
  }
  trial.type = ElementType::kBf16;
  const TrialOutcome narrow = DeviceTrial(trial).Train(batches);
  for (size_t i = 0; i < batches.size(); ++i) {
    EXPECT_NEAR(narrow.losses[i], expected.losses[i], 0.1) << "step " << i;
  }
}

TEST(DeviceStep, HardPixelsRunWithoutAGraphAndSayWhy) {
  StepTrial trial;
  trial.loss.hard_probability = 0.7;
  const auto ops = CreateHostKernelOps(trial.type, KernelOrder::kAscending);
  const TrialOutcome expected = TrainOnHost(trial, ops.get(), Batches(4));
  DeviceTrial device(trial);
  EXPECT_EQ(device.Train(Batches(4)).losses, expected.losses);
  EXPECT_EQ(device.step().graphs_launched(), 0);
  EXPECT_NE(device.step().note().find("hard pixels"), std::string::npos);
}

// Weights stay as they were before the step, in it and in all later ones.
TEST(DeviceStep, LossThatIsNotFiniteStopsTheUpdateForGood) {
  StepTrial trial;
  DeviceTrial device(trial);
  ASSERT_TRUE(device.Start().ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(device.Step(BatchOf(i)).ok());
  ASSERT_TRUE(device.Finish().ok());
  const TrialOutcome sound = device.outcome();
  // A parameter of the last layer: behind it no activation hides a NaN.
  const ParameterInfo& last = device.store().parameters().back();
  float* const spoiled = device.store().values() + last.offset;
  const float kept = *spoiled;
  *spoiled = std::nanf("");
  ASSERT_TRUE(device.Step(BatchOf(3)).ok());
  ASSERT_TRUE(device.Finish().ok());
  EXPECT_FALSE(std::isfinite(device.outcome().losses.back()));
  *spoiled = kept;
  ASSERT_TRUE(device.Step(BatchOf(4)).ok());
  ASSERT_TRUE(device.Finish().ok());
  EXPECT_TRUE(std::isfinite(device.outcome().losses.back()));
  EXPECT_EQ(device.outcome().values, sound.values);
}

// Three quarters of the class that a pixel has, a quarter of the next one; every fifth pixel none.
void MakeSoft(Samples* samples) {
  samples->shares.assign(samples->classes.size() * kClasses, 0.0f);
  for (size_t i = 0; i < samples->classes.size(); ++i) {
    if (samples->classes[i] == 0) continue;
    samples->shares[i * kClasses + samples->classes[i]] = 0.75f;
    samples->shares[i * kClasses + (samples->classes[i] + 1) % kClasses] = 0.25f;
  }
}

// Flips and crops by the input kernel are those of a loader.
void ExpectMovedRowsTrain(bool soft, const LossOptions& loss) {
  const Shape large = {2, 20, 28, 3}, crop = {2, 16, 24, 3};
  Samples stored = BatchOf(0, large);
  DeviceBatch moves;
  moves.height = crop.h;
  moves.width = crop.w;
  moves.moves.resize(2);
  moves.moves[0].top = 3;
  moves.moves[0].left = 1;
  moves.moves[0].flip_horizontal = true;
  moves.moves[1].left = 4;
  moves.moves[1].flip_vertical = true;
  Samples moved(crop);
  for (int64_t at = 0; at < crop.Pixels(); ++at) {
    const int64_t n = at / (crop.h * crop.w), y = at / crop.w % crop.h, x = at % crop.w;
    const int64_t row = n == 0 ? 3 + y : crop.h - 1 - y;
    const int64_t column = n == 0 ? 1 + crop.w - 1 - x : 4 + x;
    const int64_t from = (n * large.h + row) * large.w + column;
    moved.classes[at] = stored.classes[from];
    for (int64_t c = 0; c < 3; ++c) moved.pixels[at * 3 + c] = stored.pixels[from * 3 + c];
  }
  if (soft) {
    MakeSoft(&stored);
    MakeSoft(&moved);
  }
  StepTrial trial;
  trial.loss = loss;
  const auto ops = CreateHostKernelOps(trial.type, KernelOrder::kAscending);
  const TrialOutcome expected = TrainOnHost(trial, ops.get(), std::vector<Samples>(5, moved));
  DeviceTrial device(trial);
  ASSERT_TRUE(device.Start().ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(device.Step(stored, 0, moves).ok());
  ASSERT_TRUE(device.Finish().ok());
  EXPECT_EQ(device.outcome().losses, expected.losses);
  EXPECT_EQ(device.outcome().values, expected.values);
}

TEST(DeviceStep, MovedRowsTrainAsRowsThatWereMovedBefore) {
  ExpectMovedRowsTrain(/*soft=*/false, LossOptions());
}

TEST(DeviceStep, SoftLabelsMoveWithTheirRows) {
  ExpectMovedRowsTrain(/*soft=*/true, LossOptions());
}

// Both spread each label over all classes; the device has class ids of one byte, and no more.
TEST(DeviceStep, SmoothedLabelsAndDiceAreWorkedOutFromClassIds) {
  LossOptions loss;
  loss.label_smoothing = 0.1;
  loss.dice = 0.5;
  ExpectMovedRowsTrain(/*soft=*/false, loss);
  ExpectMovedRowsTrain(/*soft=*/true, loss);
}

// Scored on the device: only counts come back.
TEST(DeviceConfusion, CountsAreThoseOfTheHostAndWrongLabelsAreNamed) {
  DeviceTrial device(StepTrial{});
  const auto host_ops = CreateHostKernelOps(ElementType::kF32, KernelOrder::kAscending);
  const auto host_graph = MakeGraph(SmallUnet(), host_ops.get(), PixelOptions());
  const auto ranks = CreateSelfCommunicator();
  const auto on_device = CreateRankEngine(&device.graph(), ranks.get(), 1, &device.ops());
  const auto on_host = CreateRankEngine(host_graph.get(), ranks.get());
  ASSERT_TRUE(on_device.ok() && on_host.ok());
  ConfusionMatrix counted(kClasses, 3), expected(kClasses, 3);
  for (int batch = 0; batch < 2; ++batch) {
    const Samples samples = BatchOf(batch);
    const BatchRows rows = {samples.images(), samples.labels(), samples.shape.n};
    const auto loss = (*on_device)->Score(rows, false, &counted);
    const auto expected_loss = (*on_host)->Score(rows, false, &expected);
    ASSERT_TRUE(loss.ok() && expected_loss.ok());
    EXPECT_EQ(loss->loss.loss_sum, expected_loss->loss.loss_sum);
  }
  EXPECT_EQ(counted.counts(), expected.counts());
  EXPECT_EQ(counted.ignored(), expected.ignored());
  EXPECT_GT(counted.ignored(), 0u);
  Samples wrong = BatchOf(2);
  wrong.classes[17] = 9;
  const BatchRows rows = {wrong.images(), wrong.labels(), wrong.shape.n};
  const auto on_device_status = (*on_device)->Score(rows, false, &counted).status();
  EXPECT_EQ(on_device_status.code(), StatusCode::kDataLoss);
  EXPECT_EQ(on_device_status.message(),
            (*on_host)->Score(rows, false, &expected).status().message());
}

TEST(DeviceStep, MemoryThatIsTooSmallIsUnavailableWithNumbers) {
  StepTrial trial;
  DeviceTrial device(trial);
  ASSERT_TRUE(device.Start().ok());
  ASSERT_TRUE(device.runtime().FreeBytes().ok());
  const int64_t taken = DeviceTrial::kDeviceBytes - *device.runtime().FreeBytes();
  device.runtime().set_device_bytes(taken + 1000);
  const Status status = device.Step(BatchOf(0));
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("activations"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("bytes asked for, 1000 free"), std::string::npos);
}

}  // namespace
}  // namespace shardmill
