// The models of the program: as large as published, and able to learn.
#include "trainer/models/model_catalog.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/trainer/allocation_counter.h"
#include "tests/trainer/small_training.h"
#include "trainer/graph/resolved_model.h"
#include "trainer/optimization/optimizer.h"

namespace shardmill {
namespace {

ModelSpec Build(const std::string& name, const ModelSize& size) {
  const auto spec = BuildModel(*FindModel(name), size);
  SHARDMILL_CHECK(spec.ok());
  return *spec;
}

int64_t Parameters(const std::string& name, int64_t input_channels, int64_t classes) {
  ParameterStore store;
  const auto model = ResolveModel(Build(name, {input_channels, classes, 0, 0}), &store);
  EXPECT_TRUE(model.ok()) << model.status().ToString();
  return store.trained_elements();
}

TEST(ModelCatalog, NumbersOfParametersAreThePublishedOnes) {
  EXPECT_EQ(Parameters("resnet18", 3, 1000), 11689512);  // torchvision's
  // 0.37 and 1.5 million in the papers.
  EXPECT_NEAR(static_cast<double>(Parameters("enet", 3, 12)), 0.36e6, 0.015e6);
  EXPECT_NEAR(static_cast<double>(Parameters("fc_densenet56", 3, 11)), 1.45e6, 0.1e6);
  // By hand: kernels, two numbers per channel of batch norm, the head.
  const int64_t frames = 512 * (5 * 24 + 3 * 512 + 3 * 512 + 512) + 1500 * 512;
  const int64_t segments = 512 * 3000 + 512 * 512;
  EXPECT_EQ(Parameters("tdnn", 24, 100),
            frames + segments + 2 * (4 * 512 + 1500 + 2 * 512) + 513 * 100);
}

TEST(ModelCatalog, NumbersThatDoNotSuitAModelAreInvalidArgument) {
  const auto code = [](const char* name, const ModelSize& size) {
    return BuildModel(*FindModel(name), size).status().code();
  };
  EXPECT_EQ(code("enet", {3, 12, 0, 4}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("enet", {3, 12, 3, 0}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("fc_densenet56", {3, 12, 6, 0}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("resnet18", {3, 1, 0, 0}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("tdnn", {0, 5, 0, 0}), StatusCode::kInvalidArgument);
  EXPECT_EQ(FindModel("unett"), nullptr);
}

// Small versions of all models, and what they take.
struct SmallModel {
  const char* name;
  ModelSize size;
  Shape images;
  uint64_t steps;
};

const SmallModel kSmallModels[] = {
    {"unet", {3, kClasses, 4, 2}, {2, 24, 20, 3}, 60},
    {"encoder_decoder", {3, kClasses, 4, 0}, {2, 33, 32, 3}, 110},
    {"enet", {3, kClasses, 8, 0}, {2, 32, 27, 3}, 110},
    {"fc_densenet56", {3, kClasses, 16, 0}, {1, 32, 64, 3}, 50},
    {"classifier", {3, kClasses, 4, 2}, {6, 12, 12, 3}, 60},
    {"resnet18", {3, kClasses, 4, 0}, {6, 33, 32, 3}, 60},
    {"tdnn", {7, kClasses, 16, 0}, {6, 1, 20, 7}, 60},
};

class EachModel : public testing::TestWithParam<SmallModel> {};

// One batch with a class per pixel or row that shows in the pixels, but not in one pixel alone.
Samples LearnableSamples(const SmallModel& model) {
  Samples samples(model.images);
  const bool per_row = FindModel(model.name)->task != ModelTask::kClassMaps;
  const int64_t pixels = model.images.h * model.images.w;
  std::vector<uint8_t> row_classes;
  for (int64_t p = 0; p < model.images.Pixels(); ++p) {
    const int64_t row = p / pixels, x = p % model.images.w;
    const int64_t label = per_row ? row % kClasses : (x / 9 + row) % kClasses;
    samples.classes[p] = static_cast<uint8_t>(label);
    for (int64_t c = 0; c < model.images.c; ++c) {
      uint8_t& value = samples.pixels[p * model.images.c + c];
      value = static_cast<uint8_t>(value % 80 + (label * (c + 2) * 37) % 150);
    }
    if (p % pixels == 0) row_classes.push_back(static_cast<uint8_t>(label));
  }
  if (per_row) samples.classes = row_classes;
  return samples;
}

TEST_P(EachModel, OverfitsOneBatch) {
  const SmallModel& small = GetParam();
  const Samples samples = LearnableSamples(small);
  const auto ops = CpuOps();
  GraphOptions options;
  options.seed = 3;
  options.image_mean.assign(small.images.c, 110);
  options.image_deviation.assign(small.images.c, 60);
  const auto graph = MakeGraph(Build(small.name, small.size), ops.get(), options);
  ParameterStore& store = graph->parameters();
  auto optimizer = Optimizer::Create({}, {{0, store.parameter_elements(), false}});
  ASSERT_TRUE(optimizer.ok());
  LabelBatch labels = samples.labels();
  const bool maps = FindModel(small.name)->task == ModelTask::kClassMaps;
  if (!maps) labels.h = labels.w = 1;
  double first = 0, last = 0;
  for (uint64_t step = 0; step < small.steps; ++step) {
    ImageBatch images = samples.images();
    images.step = step;
    ASSERT_TRUE(graph->Forward(images, Phase::kTraining).ok());
    const auto loss = graph->Loss(labels);
    ASSERT_TRUE(loss.ok()) << loss.status().ToString();
    ASSERT_TRUE(graph->Backward().ok());
    optimizer->Step(store.values(), store.gradients(), 0.01);
    last = loss->Mean();
    if (step == 0) first = last;
  }
  EXPECT_GT(first, 1);
  EXPECT_LT(last, 0.3) << "from " << first;
}

// Beside what oneDNN needs for lists of arguments.
TEST_P(EachModel, StepsAllocateNoTensorsAfterTheFirst) {
  const SmallModel& small = GetParam();
  const Samples samples = LearnableSamples(small);
  const auto ops = CpuOps();
  const auto graph = MakeGraph(Build(small.name, small.size), ops.get());
  LossOptions loss;
  loss.dice = 1;
  loss.label_smoothing = 0.1;
  loss.hard_probability = 0.9;
  ASSERT_TRUE(graph->SetLoss(loss).ok());
  LabelBatch labels = samples.labels();
  if (FindModel(small.name)->task != ModelTask::kClassMaps) labels.h = labels.w = 1;
  const auto step = [&] {
    ASSERT_TRUE(graph->Forward(samples.images(), Phase::kTraining).ok());
    ASSERT_TRUE(graph->Loss(labels).ok() && graph->Backward().ok());
  };
  step();
  const AllocationCounter counter;
  step();
  EXPECT_LT(counter.largest_bytes(), 1024);
}

INSTANTIATE_TEST_SUITE_P(Models, EachModel, testing::ValuesIn(kSmallModels),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ModelCatalog, TooSmallImagesNameTheLayer) {
  const auto ops = CpuOps();
  const auto graph = MakeGraph(Build("fc_densenet56", {3, 5, 8, 0}), ops.get());
  const Status status = graph->Prepare({1, 31, 64, 3}, Phase::kTraining);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("layer \"down5/pool\""), std::string::npos) << status.message();
}

}  // namespace
}  // namespace shardmill
