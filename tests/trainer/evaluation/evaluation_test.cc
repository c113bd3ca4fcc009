#include "trainer/evaluation/evaluation.h"

#include <gtest/gtest.h>

#include <vector>

#include "proto/train_config.pb.h"
#include "tests/trainer/shape_dataset.h"
#include "trainer/comm/self_communicator.h"
#include "trainer/config/config.h"
#include "trainer/data/data_feed.h"
#include "trainer/ops/onednn/onednn_backend.h"
#include "trainer/ops/reference/reference_backend.h"
#include "trainer/training/network.h"

namespace shardmill {
namespace {

class EvaluationTest : public testing::Test {
 protected:
  void SetUp() override {
    auto dataset = Dataset::Open(WriteShapeDataset("evaluation", {}));
    ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
    dataset_ = *dataset;
    task_ = *DescribeTask(dataset_->schema());
    SetNetwork(CreateReferenceOps(ElementType::kF32), /*width=*/2, /*depth=*/1);
  }

  void SetNetwork(std::unique_ptr<OpTable> ops, uint32_t width, uint32_t depth) {
    engine_.reset();
    graph_.reset();
    ops_ = std::move(ops);
    proto::TrainConfig given;
    given.set_width(width);
    given.set_depth(depth);
    auto graph = CreateNetwork(CompleteConfig({}, given), task_, {{100, 100, 100}, {50, 50, 50}},
                               ops_.get());
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    graph_ = std::move(*graph);
    LossOptions loss;
    loss.ignore = 255;
    ASSERT_TRUE(graph_->SetLoss(loss).ok());
    auto engine = CreateRankEngine(graph_.get(), communicator_.get());
    ASSERT_TRUE(engine.ok());
    engine_ = std::move(*engine);
  }

  EvaluationResult Run(uint64_t batch) {
    EvaluationOptions options;
    options.split = "val";
    options.batch = batch;
    auto result = Evaluate(engine_.get(), communicator_.get(), dataset_, task_, options);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return std::move(*result);
  }

  std::shared_ptr<const Dataset> dataset_;
  DataTask task_;
  std::unique_ptr<OpTable> ops_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Communicator> communicator_ = CreateSelfCommunicator();
  std::unique_ptr<BatchEngine> engine_;
};

TEST_F(EvaluationTest, MatchesPredictionsOfSingleRecords) {
  auto feed = DataFeed::OpenEvaluation(dataset_, task_, "val", 1);
  ASSERT_TRUE(feed.ok());
  std::vector<uint64_t> counts(9, 0);
  uint64_t ignored = 0;
  while (true) {
    auto batch = (*feed)->Next();
    ASSERT_TRUE(batch.ok());
    if (!batch->has_value()) break;
    ASSERT_TRUE(graph_->Forward((*batch)->images, Phase::kEvaluation).ok());
    std::vector<uint8_t> predicted(16 * 16);
    ASSERT_TRUE(graph_->Predict(LabelType::kIndexU8, predicted.data()).ok());
    const auto* labels = static_cast<const uint8_t*>((*batch)->labels.data);
    for (int i = 0; i < 16 * 16; ++i) {
      if (labels[i] == 255) {
        ++ignored;
      } else {
        ++counts[labels[i] * 3 + predicted[i]];
      }
    }
  }
  for (const uint64_t batch : {1, 3, 7, 50}) {
    const EvaluationResult result = Run(batch);
    EXPECT_EQ(result.matrix.counts(), counts) << "batch " << batch;
    EXPECT_EQ(result.matrix.ignored(), ignored);
    EXPECT_EQ(result.records, 7u);
    EXPECT_EQ(result.loss.weight_sum, 7 * 16 * 16 - static_cast<double>(ignored));
  }
}

// Of the backend that training uses, where batch norms are folded. The network is so wide for its
// images that one of them would decide otherwise about folding than all together.
TEST_F(EvaluationTest, BatchesOfAnySizeGiveTheSameBits) {
  auto ops = CreateOnednnOps();
  ASSERT_TRUE(ops.ok()) << ops.status().ToString();
  SetNetwork(std::move(*ops), /*width=*/8, /*depth=*/2);
  const EvaluationResult single = Run(1);
  for (const uint64_t batch : {2, 3, 7}) {
    const EvaluationResult result = Run(batch);
    EXPECT_EQ(result.matrix.counts(), single.matrix.counts()) << "batch " << batch;
    EXPECT_EQ(result.loss.loss_sum, single.loss.loss_sum) << "batch " << batch;
  }
}

TEST_F(EvaluationTest, LeavesTheNetworkAsItIs) {
  const std::string before = WeightsHash(graph_.get());
  Run(4);
  EXPECT_EQ(WeightsHash(graph_.get()), before);
}

TEST_F(EvaluationTest, StopsWithTheErrorOfItsProgressFunction) {
  EvaluationOptions options;
  options.split = "val";
  options.batch = 2;
  int calls = 0;
  options.progress = [&](uint64_t records) {
    ++calls;
    return records >= 4 ? CancelledError("enough") : OkStatus();
  };
  const Status status =
      Evaluate(engine_.get(), communicator_.get(), dataset_, task_, options).status();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_EQ(calls, 2);
}

TEST_F(EvaluationTest, UnknownSplitIsInvalidArgument) {
  EvaluationOptions options;
  options.split = "test";
  EXPECT_EQ(Evaluate(engine_.get(), communicator_.get(), dataset_, task_, options).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
