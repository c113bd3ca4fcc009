// The graph as its users see it, on the CPU backend.
#include "trainer/graph/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/trainer/allocation_counter.h"
#include "tests/trainer/small_training.h"
#include "trainer/ops/reference/reference_backend.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {
namespace {

// |actual - expected| in proportion to the largest element.
void ExpectSimilar(const std::vector<float>& actual, const std::vector<float>& expected,
                   double tolerance) {
  double largest = 0, error = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    error = std::max(error, std::abs(static_cast<double>(actual[i]) - expected[i]));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(error, tolerance * largest);
}

TEST(Graph, OnednnAgreesWithReference) {
  const Samples samples({2, 20, 26, 3});
  const auto reference = CreateReferenceOps(ElementType::kF32);
  const auto onednn = CpuOps();
  const auto expected = MakeGraph(SmallUnet(), reference.get(), PixelOptions());
  const auto actual = MakeGraph(SmallUnet(), onednn.get(), PixelOptions());
  EXPECT_NEAR(StepLoss(actual.get(), samples), StepLoss(expected.get(), samples), 1e-5);
  ExpectSimilar(Gradients(actual.get()), Gradients(expected.get()), 1e-3);
}

TEST(Graph, AnySizeThatCanBeHalvedWorks) {
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(/*depth=*/4), ops.get());
  for (const Shape& shape :
       {Shape{2, 16, 16, 3}, Shape{2, 180, 240, 3}, Shape{1, 33, 47, 3}, Shape{2, 31, 16, 3}}) {
    const Samples samples(shape);
    EXPECT_TRUE(std::isfinite(StepLoss(graph.get(), samples))) << ShapeText(shape);
    EXPECT_EQ(graph->logits_shape(), (Shape{shape.n, shape.h, shape.w, kClasses}));
  }
}

TEST(Graph, TooSmallImagesAreRefusedByLayer) {
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(/*depth=*/4), ops.get());
  const Samples samples({1, 15, 40, 3});
  const Status status = graph->Forward(samples.images(), Phase::kTraining);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("down4/pool"), std::string::npos) << status.message();
  // The graph still works.
  EXPECT_GT(StepLoss(graph.get(), Samples({1, 16, 40, 3})), 0);
}

TEST(Graph, WrongInputsAreRefused) {
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(), ops.get());
  const Samples four_channels({1, 8, 8, 4});
  EXPECT_EQ(graph->Forward(four_channels.images(), Phase::kTraining).code(),
            StatusCode::kInvalidArgument);
  const Samples samples({1, 8, 8, 3});
  ASSERT_TRUE(graph->Forward(samples.images(), Phase::kTraining).ok());
  LabelBatch labels = samples.labels();
  labels.h = 7;
  EXPECT_EQ(graph->Loss(labels).status().code(), StatusCode::kInvalidArgument);
  LossOptions few_weights;
  few_weights.class_weights = {1, 2};
  EXPECT_EQ(graph->SetLoss(few_weights).code(), StatusCode::kInvalidArgument);
  LossOptions negative;
  negative.class_weights = {1, 1, -1, 1, 1};
  EXPECT_EQ(graph->SetLoss(negative).code(), StatusCode::kInvalidArgument);
  GraphOptions no_deviation;
  no_deviation.image_deviation = {1, 0, 1};
  EXPECT_EQ(Graph::Create(SmallUnet(), ops.get(), no_deviation).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Graph, AllIgnoredBatchGivesNoLossAndNoGradient) {
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  LossOptions options;
  options.ignore = 255;
  ASSERT_TRUE(graph->SetLoss(options).ok());
  Samples samples({2, 16, 16, 3});
  EXPECT_GT(StepLoss(graph.get(), samples), 0);
  samples.classes.assign(samples.classes.size(), 255);
  EXPECT_EQ(StepLoss(graph.get(), samples), 0);
  EXPECT_EQ(Gradients(graph.get()),
            std::vector<float>(graph->parameters().parameter_elements(), 0.0f));
}

TEST(Graph, LossOfALargerBatchDividesByItsWeight) {
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  const Samples samples({2, 16, 16, 3});
  const double mean = StepLoss(graph.get(), samples);
  const std::vector<float> whole = Gradients(graph.get());
  ASSERT_TRUE(graph->Forward(samples.images(), Phase::kTraining).ok());
  const auto weight = graph->LabelWeight(samples.labels());
  ASSERT_TRUE(weight.ok());
  EXPECT_EQ(*weight, 512);
  const auto loss = graph->Loss(samples.labels(), 4 * *weight);
  ASSERT_TRUE(loss.ok() && graph->Backward().ok());
  EXPECT_NEAR(loss->Mean(), mean, 1e-6);
  std::vector<float> quarter = Gradients(graph.get());
  for (float& gradient : quarter) gradient *= 4;
  ExpectSimilar(quarter, whole, 1e-5);
}

TEST(Graph, RowsOfWeightZeroDoNotCount) {
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  Samples samples({3, 16, 16, 3});
  const float weights[] = {1, 1, 0};
  LabelBatch labels = samples.labels();
  labels.row_weights = weights;
  ASSERT_TRUE(graph->Forward(samples.images(), Phase::kTraining).ok());
  const auto before = graph->Loss(labels);
  for (int64_t p = 512; p < 768; ++p) samples.classes[p] = (samples.classes[p] + 1) % kClasses;
  const auto after = graph->Loss(labels);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(before->weight_sum, 512);
  EXPECT_EQ(before->loss_sum, after->loss_sum);
}

TEST(Graph, BatchNormOfASingleValueIsRefusedInTraining) {
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  // At the bottom of the network one pixel is left of each image.
  const Samples one({1, 4, 4, 3}), two({2, 4, 4, 3});
  const Status refused = graph->Forward(one.images(), Phase::kTraining);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("use a larger --batch"), std::string::npos) << refused.message();
  EXPECT_TRUE(graph->Forward(two.images(), Phase::kTraining).ok());
  EXPECT_TRUE(graph->Forward(one.images(), Phase::kEvaluation).ok());
}

TEST(Graph, EvaluationUsesRunningStatisticsAndKeepsThem) {
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  const Samples samples({4, 16, 16, 3});
  for (int step = 0; step < 60; ++step) StepLoss(graph.get(), samples);
  std::vector<float> training(samples.shape.Pixels() * kClasses), evaluation = training;
  ASSERT_TRUE(graph->Forward(samples.images(), Phase::kTraining).ok());
  ASSERT_TRUE(graph->ReadLogits(training.data()).ok());
  const ParameterStore& store = graph->parameters();
  const std::vector<float> before(
      graph->parameters().running_statistics(),
      graph->parameters().running_statistics() + store.statistic_elements());
  ASSERT_TRUE(graph->Forward(samples.images(), Phase::kEvaluation).ok());
  ASSERT_TRUE(graph->ReadLogits(evaluation.data()).ok());
  // After many equal batches the running statistics are those of the batch (but for the
  // unbiased variance, one part in the number of pixels).
  ExpectSimilar(evaluation, training, 0.05);
  EXPECT_NE(evaluation, training);
  const std::vector<float> after(
      graph->parameters().running_statistics(),
      graph->parameters().running_statistics() + store.statistic_elements());
  EXPECT_EQ(before, after);
}

TEST(Graph, EvaluationNeedsLessMemory) {
  const auto ops = CpuOps();
  const Shape shape = {2, 64, 64, 3};
  const auto training = MakeGraph(SmallUnet(), ops.get());
  const auto evaluation = MakeGraph(SmallUnet(), ops.get());
  ASSERT_TRUE(training->Prepare(shape, Phase::kTraining).ok());
  ASSERT_TRUE(evaluation->Prepare(shape, Phase::kEvaluation).ok());
  EXPECT_LT(evaluation->arena_bytes(), training->arena_bytes() / 2);
}

TEST(Graph, ShapesMayAlternate) {
  // The arena grows with the second shape; results of the first must not change.
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  const Samples small({1, 16, 16, 3}), large({2, 48, 40, 3});
  const double small_loss = StepLoss(graph.get(), small);
  const std::vector<float> small_gradients = Gradients(graph.get());
  const double large_loss = StepLoss(graph.get(), large);
  EXPECT_EQ(StepLoss(graph.get(), small), small_loss);
  EXPECT_EQ(Gradients(graph.get()), small_gradients);
  EXPECT_EQ(StepLoss(graph.get(), large), large_loss);
}

TEST(Graph, StepsDoNotAllocateAfterTheFirst) {
  const auto ops = CreateReferenceOps(ElementType::kF32);
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  const Samples samples({1, 8, 8, 3});
  std::vector<uint8_t> predicted(samples.classes.size());
  const auto step = [&] {
    StepLoss(graph.get(), samples);
    SHARDMILL_CHECK(graph->Forward(samples.images(), Phase::kEvaluation).ok());
    SHARDMILL_CHECK(graph->Predict(LabelType::kIndexU8, predicted.data()).ok());
  };
  step();
  const AllocationCounter counter;
  step();
  EXPECT_EQ(counter.allocations(), 0);
}

TEST(Graph, OnednnStepsAllocateNoTensors) {
  // oneDNN itself makes small argument lists; no memory of the size of a tensor.
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  const Samples samples({2, 32, 32, 3});
  StepLoss(graph.get(), samples);
  const AllocationCounter counter;
  StepLoss(graph.get(), samples);
  EXPECT_LT(counter.largest_bytes(), 1024);
}

// Memory that the host may not touch directly, as a GPU's.
class SeparateMemoryOps : public ReferenceOps {
 public:
  SeparateMemoryOps() : ReferenceOps(ElementType::kF32) {}
  bool host_memory() const override { return false; }
};

TEST(Graph, SeparateDeviceMemoryGivesTheSameResults) {
  Samples samples({2, 12, 10, 3});
  const float weights[] = {1, 0.5f};
  LabelBatch labels = samples.labels();
  labels.row_weights = weights;
  const ImageBatch images = samples.images();
  std::vector<std::vector<uint8_t>> predictions;
  std::vector<double> losses;
  const std::unique_ptr<OpTable> tables[] = {CreateReferenceOps(ElementType::kF32),
                                             std::make_unique<SeparateMemoryOps>()};
  for (const auto& ops : tables) {
    const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
    ASSERT_TRUE(graph->Forward(images, Phase::kTraining).ok());
    const auto loss = graph->Loss(labels);
    ASSERT_TRUE(loss.ok() && graph->Backward().ok());
    losses.push_back(loss->loss_sum);
    predictions.emplace_back(samples.classes.size());
    ASSERT_TRUE(graph->Predict(LabelType::kIndexU8, predictions.back().data()).ok());
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(predictions[0], predictions[1]);
}

// A small time-delay network on sequences of 5 features.
ModelSpec SequenceModel() {
  ModelSpec model;
  model.name = "sequences";
  model.input_channels = 5;
  std::string value = "images";
  for (const std::string number : {"1", "2"}) {
    LayerSpec convolution;
    convolution.name = "convolution" + number;
    convolution.inputs = {value};
    convolution.channels = 6;
    convolution.window = {1, 3, 1, 1, 0, 2, 0, 2, 1, 2};
    LayerSpec norm;
    norm.name = value = "norm" + number;
    norm.kind = LayerKind::kBatchNorm;
    norm.activation = Activation::kRelu;
    norm.inputs = {convolution.name};
    model.layers.push_back(convolution);
    model.layers.push_back(norm);
  }
  LayerSpec pool;
  pool.name = "statistics";
  pool.kind = LayerKind::kStatisticsPool;
  pool.inputs = {value};
  LayerSpec head;
  head.name = "head";
  head.inputs = {pool.name};
  head.channels = kClasses;
  model.layers.push_back(pool);
  model.layers.push_back(head);
  return model;
}

// Two sequences of 7 and 4 frames, padded to `frames` with numbers that must not matter.
std::vector<float> PaddedSequences(int64_t frames, float padding) {
  std::vector<float> padded(2 * frames * 5, padding);
  const std::vector<float> values = RandomTensor<float>(11 * 5, 1, "frames");
  std::copy_n(values.begin(), 7 * 5, padded.begin());
  std::copy_n(values.begin() + 7 * 5, 4 * 5, padded.begin() + frames * 5);
  return padded;
}

TEST(Graph, PaddingOfSequencesChangesNothing) {
  const auto ops = CpuOps();
  const int32_t lengths[] = {7, 4};
  const uint8_t classes[] = {1, 3};
  std::vector<std::vector<float>> gradients, statistics;
  std::vector<double> losses;
  for (const int64_t frames : {7, 12}) {
    GraphOptions options;
    options.image_mean.assign(5, 0.5f);
    const auto graph = MakeGraph(SequenceModel(), ops.get(), options);
    const std::vector<float> values = PaddedSequences(frames, frames == 7 ? 3.0f : -50.0f);
    ImageBatch batch = {values.data(), ImageType::kF32, {2, 1, frames, 5}};
    batch.lengths = lengths;
    const LabelBatch labels = {classes, LabelType::kIndexU8, 2, 1, 1, nullptr};
    ASSERT_TRUE(graph->Forward(batch, Phase::kTraining).ok());
    const auto loss = graph->Loss(labels);
    ASSERT_TRUE(loss.ok() && graph->Backward().ok());
    losses.push_back(loss->Mean());
    gradients.push_back(Gradients(graph.get()));
    const float* running = graph->parameters().running_statistics();
    statistics.emplace_back(running, running + graph->parameters().statistic_elements());
  }
  EXPECT_NEAR(losses[1], losses[0], 1e-5);
  ExpectSimilar(gradients[1], gradients[0], 1e-4);
  ExpectSimilar(statistics[1], statistics[0], 1e-5);
}

// Otherwise what a sequence scores would depend on the longest of its batch.
TEST(Graph, LayersThatMixFramesWithPaddingAreRefused) {
  const auto ops = CpuOps();
  const std::vector<float> values = PaddedSequences(12, 0);
  const int32_t lengths[] = {7, 4};
  ModelSpec averages = SequenceModel(), strides = averages;
  for (LayerSpec& layer : averages.layers) {
    if (layer.kind == LayerKind::kStatisticsPool) layer.kind = LayerKind::kGlobalAveragePool;
  }
  strides.layers.front().window.stride_w = 2;
  for (const ModelSpec& model : {averages, strides}) {
    const auto graph = MakeGraph(model, ops.get());
    ImageBatch batch = {values.data(), ImageType::kF32, {2, 1, 12, 5}};
    EXPECT_TRUE(graph->Forward(batch, Phase::kEvaluation).ok());  // of one length
    batch.lengths = lengths;
    for (const Phase phase : {Phase::kTraining, Phase::kEvaluation}) {
      const Status status = graph->Forward(batch, phase);
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_NE(status.message().find("with their padding"), std::string::npos) << status.message();
    }
  }
}

TEST(Graph, LengthsOutsideTheSequenceAreRefused) {
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SequenceModel(), ops.get());
  const std::vector<float> values = PaddedSequences(7, 0);
  ImageBatch batch = {values.data(), ImageType::kF32, {2, 1, 7, 5}};
  for (const std::vector<int32_t>& lengths : {std::vector<int32_t>{7, 0}, {8, 1}}) {
    batch.lengths = lengths.data();
    EXPECT_EQ(graph->Forward(batch, Phase::kTraining).code(), StatusCode::kInvalidArgument);
  }
}

TEST(Graph, DropoutIsAFunctionOfTheStepAndOffInEvaluation) {
  const auto ops = CpuOps();
  ModelSpec model = SmallUnet();
  LayerSpec drop;
  drop.name = "drop";
  drop.kind = LayerKind::kDropout;
  drop.inputs = model.layers.back().inputs;
  drop.drop = 0.5;
  model.layers.back().inputs = {"drop"};
  model.layers.insert(model.layers.end() - 1, drop);
  const auto graph = MakeGraph(model, ops.get(), PixelOptions());
  const Samples samples({2, 16, 16, 3});
  const auto logits_of = [&](uint64_t step, Phase phase) {
    ImageBatch images = samples.images();
    images.step = step;
    std::vector<float> logits(samples.shape.Pixels() * kClasses);
    SHARDMILL_CHECK(graph->Forward(images, phase).ok());
    SHARDMILL_CHECK(graph->ReadLogits(logits.data()).ok());
    return logits;
  };
  const std::vector<float> first = logits_of(1, Phase::kTraining);
  EXPECT_NE(logits_of(2, Phase::kTraining), first);
  EXPECT_EQ(logits_of(1, Phase::kTraining), first);
  EXPECT_EQ(logits_of(2, Phase::kEvaluation), logits_of(1, Phase::kEvaluation));
}

TEST(Graph, ProfileNamesEveryLayer) {
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(), ops.get());
  const Samples samples({1, 16, 16, 3});
  StepLoss(graph.get(), samples);
  graph->set_profiling(true);
  StepLoss(graph.get(), samples);
  StepLoss(graph.get(), samples);
  const std::vector<LayerTime> times = graph->layer_times();
  EXPECT_EQ(times.size(), 2 + 2 * SmallUnet().layers.size());
  for (const LayerTime& time : times) {
    EXPECT_EQ(time.calls, 2) << time.layer;
    EXPECT_GT(time.nanoseconds, 0) << time.layer;
  }
}

}  // namespace
}  // namespace shardmill
