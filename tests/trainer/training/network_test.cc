#include "trainer/training/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "proto/checkpoint.pb.h"
#include "trainer/config/config.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

DataTask Task(TaskKind kind) {
  DataTask task;
  task.kind = kind;
  task.image = {0, 16, 16, 3};
  task.classes = {"a", "b", "c"};
  return task;
}

class NetworkTest : public testing::Test {
 protected:
  NetworkTest() : ops_(CreateReferenceOps(ElementType::kF32)) {
    proto::TrainConfig given;
    given.set_width(2);
    given.set_depth(2);
    given.set_seed(5);
    config_ = CompleteConfig({}, given);
  }

  std::unique_ptr<Graph> Create() {
    auto graph =
        CreateNetwork(config_, Task(TaskKind::kSegmentation), {{1, 2, 3}, {1, 1, 1}}, ops_.get());
    EXPECT_TRUE(graph.ok()) << graph.status().ToString();
    return std::move(*graph);
  }

  std::unique_ptr<OpTable> ops_;
  proto::TrainConfig config_;
};

TEST_F(NetworkTest, ModelMustSuitTheLabels) {
  const auto code = [&](TaskKind kind) {
    return CreateNetwork(config_, Task(kind), {}, ops_.get()).status().code();
  };
  EXPECT_EQ(code(TaskKind::kClassification), StatusCode::kInvalidArgument);
  config_.set_model("classifier");
  EXPECT_EQ(code(TaskKind::kSegmentation), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(TaskKind::kClassification), StatusCode::kOk);
}

TEST_F(NetworkTest, UnknownModelSuggestsTheNearest) {
  config_.set_model("unett");
  const Status status =
      CreateNetwork(config_, Task(TaskKind::kSegmentation), {}, ops_.get()).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("did you mean 'unet'?"), std::string::npos) << status.message();
}

TEST_F(NetworkTest, ModelOfAFileMustHaveAsManyClassesAsTheData) {
  const std::string path = testing::TempDir() + "/model.txtpb";
  std::ofstream(path) << "layers { name: 'a' convolution { channels: 2 bias: true } }";
  config_.set_model(path);
  config_.set_width(0);
  config_.set_depth(0);
  const auto create = [&] {
    return CreateNetwork(config_, Task(TaskKind::kSegmentation), {}, ops_.get());
  };
  EXPECT_NE(create().status().message().find("makes 2 channels"), std::string::npos);
  std::ofstream(path) << "layers { name: 'a' convolution { classes: true bias: true } }";
  const auto graph = create();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->classes(), 3);
  // What a checkpoint stores makes the same network, without the file.
  const proto::ModelDescription description = DescribeModel(**graph);
  config_.set_model("no/such/file");
  EXPECT_EQ(create().status().code(), StatusCode::kNotFound);
  const auto stored =
      CreateNetwork(config_, Task(TaskKind::kSegmentation), {}, ops_.get(), &description.layers());
  ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  EXPECT_EQ(DescribeModel(**stored).SerializeAsString(), description.SerializeAsString());
}

TEST_F(NetworkTest, SizesThatAreLeftOutAreThoseOfTheModel) {
  proto::TrainConfig config;
  config.set_model("resnet18");
  CompleteModelSize(&config);
  EXPECT_EQ(config.width(), 64);
  EXPECT_EQ(config.depth(), 0);
  config.clear_width();
  config.set_model("unet");
  config.set_width(3);
  CompleteModelSize(&config);
  EXPECT_EQ(config.width(), 3);
  EXPECT_EQ(config.depth(), 4);
}

TEST_F(NetworkTest, ImagesTooSmallForTheDepthAreInvalidArgument) {
  config_.set_depth(5);
  const Status status =
      CreateNetwork(config_, Task(TaskKind::kSegmentation), {}, ops_.get()).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("32 high"), std::string::npos) << status.message();
}

TEST_F(NetworkTest, CheckpointRestoresEveryBitAndTheHash) {
  const std::unique_ptr<Graph> graph = Create();
  for (const TensorView& tensor : NetworkTensors(graph.get())) EXPECT_GT(tensor.elements, 0);
  const std::string hash = WeightsHash(graph.get());
  const std::string path = testing::TempDir() + "/network_test.ckpt";
  ASSERT_TRUE(WriteCheckpoint(path, {}, NetworkTensors(graph.get())).ok());
  config_.set_seed(6);
  const std::unique_ptr<Graph> other = Create();
  EXPECT_NE(WeightsHash(other.get()), hash);
  const auto checkpoint = LoadedCheckpoint::Read(path);
  ASSERT_TRUE(checkpoint.ok());
  ASSERT_TRUE(RestoreNetwork(*checkpoint, other.get()).ok());
  EXPECT_EQ(WeightsHash(other.get()), hash);
}

TEST_F(NetworkTest, HashDependsOnParametersAndRunningStatistics) {
  const std::unique_ptr<Graph> graph = Create();
  const std::string hash = WeightsHash(graph.get());
  EXPECT_EQ(hash.size(), 32u);
  graph->parameters().running_statistics()[0] += 1;
  const std::string changed = WeightsHash(graph.get());
  EXPECT_NE(changed, hash);
  graph->parameters().values()[0] += 1;
  EXPECT_NE(WeightsHash(graph.get()), changed);
}

TEST_F(NetworkTest, DescriptionTellsModelsApart) {
  const proto::ModelDescription first = DescribeModel(*Create());
  EXPECT_EQ(first.classes(), 3);
  EXPECT_EQ(first.input_channels(), 3);
  EXPECT_GT(first.parameters_size(), 10);
  EXPECT_EQ(DescribeModel(*Create()).SerializeAsString(), first.SerializeAsString());
  config_.set_width(3);
  EXPECT_NE(DescribeModel(*Create()).SerializeAsString(), first.SerializeAsString());
}

TEST_F(NetworkTest, OptimizerRangesCoverTheBufferAndDecayConvolutionWeightsOnly) {
  const std::unique_ptr<Graph> graph = Create();
  const ParameterStore& store = graph->parameters();
  const std::vector<ParameterRange> ranges = OptimizerRanges(store);
  ASSERT_EQ(ranges.size(), store.parameters().size());
  int64_t next = 0;
  bool some_decay = false;
  bool some_do_not = false;
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(ranges[i].begin, next);
    next = ranges[i].end;
    EXPECT_EQ(ranges[i].decay, store.parameters()[i].kind == ParameterKind::kConvolutionWeight);
    some_decay |= ranges[i].decay;
    some_do_not |= !ranges[i].decay;
  }
  EXPECT_EQ(next, store.parameter_elements());
  EXPECT_TRUE(some_decay && some_do_not);
}

TEST(EuclideanNorm, MatchesTheDefinitionAtAnyLengthAndShowsNan) {
  std::vector<float> values;
  double sum = 0;
  for (int i = 0; i < 40; ++i) {
    EXPECT_NEAR(EuclideanNorm(values.data(), i), std::sqrt(sum), 1e-9) << i;
    values.push_back(0.5f * static_cast<float>(i) - 3);
    sum += static_cast<double>(values.back()) * values.back();
  }
  values[17] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(EuclideanNorm(values.data(), 40)));
  values[17] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isinf(EuclideanNorm(values.data(), 40)));
}

}  // namespace
}  // namespace shardmill
