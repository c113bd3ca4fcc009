#include "trainer/data_feed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/trainer/shape_dataset.h"

namespace shardmill {
namespace {

class DataFeedTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = WriteShapeDataset("data_feed", {});
    auto dataset = Dataset::Open(folder);
    ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
    dataset_ = *dataset;
    auto task = DescribeTask(dataset_->schema());
    ASSERT_TRUE(task.ok()) << task.status().ToString();
    task_ = *task;
  }

  // The records of every batch, in order.
  std::vector<std::vector<uint64_t>> Drain(DataFeed* feed) {
    std::vector<std::vector<uint64_t>> batches;
    while (true) {
      auto batch = feed->Next();
      EXPECT_TRUE(batch.ok()) << batch.status().ToString();
      if (!batch.ok() || !batch->has_value()) return batches;
      EXPECT_EQ((*batch)->images.shape.n, (*batch)->labels.n);
      batches.push_back((*batch)->lease.records());
    }
  }

  std::vector<std::vector<uint64_t>> Training(uint64_t first_epoch, uint64_t first_step) {
    TrainingFeedOptions options;
    options.split = "train";
    options.batch = 5;
    options.seed = 3;
    options.epochs = 3;
    options.first_epoch = first_epoch;
    options.first_step = first_step;
    auto feed = DataFeed::OpenTraining(dataset_, task_, options);
    EXPECT_TRUE(feed.ok()) << feed.status().ToString();
    return Drain(feed->get());
  }

  std::shared_ptr<const Dataset> dataset_;
  DataTask task_;
};

TEST_F(DataFeedTest, TrainingHasWholeBatchesOfDistinctRecordsInANewOrderPerEpoch) {
  const auto batches = Training(0, 0);
  ASSERT_EQ(batches.size(), 12u);  // 24 records: 4 whole batches of 5 in each of 3 epochs
  std::vector<uint64_t> epochs[3];
  for (size_t i = 0; i < batches.size(); ++i) {
    EXPECT_EQ(batches[i].size(), 5u);
    epochs[i / 4].insert(epochs[i / 4].end(), batches[i].begin(), batches[i].end());
  }
  for (const auto& epoch : epochs) {
    EXPECT_EQ(std::set<uint64_t>(epoch.begin(), epoch.end()).size(), 20u);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
}

TEST_F(DataFeedTest, TrainingStartsAnywhereInTheSameSequence) {
  const auto all = Training(0, 0);
  const auto rest = Training(1, 3);
  ASSERT_EQ(rest.size(), 5u);
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), all.begin() + 7));
}

TEST_F(DataFeedTest, EvaluationHasEveryRecordOnceInStoredOrder) {
  auto feed = DataFeed::OpenEvaluation(dataset_, task_, "val", 4);
  ASSERT_TRUE(feed.ok());
  const auto batches = Drain(feed->get());
  EXPECT_EQ(batches, (std::vector<std::vector<uint64_t>>{{0, 1, 2, 3}, {4, 5, 6}}));
}

TEST_F(DataFeedTest, EvaluationBatchMayExceedTheSplit) {
  auto feed = DataFeed::OpenEvaluation(dataset_, task_, "val", 100);
  ASSERT_TRUE(feed.ok());
  EXPECT_EQ(Drain(feed->get()).size(), 1u);
}

TEST_F(DataFeedTest, BatchShowsImagesAndLabelsAsStored) {
  auto feed = DataFeed::OpenEvaluation(dataset_, task_, "val", 3);
  ASSERT_TRUE(feed.ok());
  auto batch = (*feed)->Next();
  ASSERT_TRUE(batch.ok() && batch->has_value());
  const FeedBatch& first = **batch;
  EXPECT_EQ(first.images.shape, (Shape{3, 16, 16, 3}));
  EXPECT_EQ(first.images.type, ImageType::kU8);
  EXPECT_EQ(first.labels.type, LabelType::kIndexU8);
  EXPECT_EQ(first.labels.h, 16);
  EXPECT_EQ(first.labels.w, 16);
  const auto* pixels = static_cast<const uint8_t*>(first.images.data);
  const auto* labels = static_cast<const uint8_t*>(first.labels.data);
  // The colour of a pixel is that of its class: red and green stand out from 120 on.
  int reds = 0;
  for (int i = 0; i < 3 * 16 * 16; ++i) {
    if (labels[i] == 255) continue;
    EXPECT_EQ(labels[i] == 1, pixels[3 * i] >= 200) << i;
    reds += labels[i] == 1;
  }
  EXPECT_GT(reds, 20);
}

}  // namespace
}  // namespace shardmill
