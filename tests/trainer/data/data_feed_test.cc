#include "trainer/data/data_feed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

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

TEST(SeveralSizes, EvaluationShowsEachImageAsItIs) {
  ShapeDatasetOptions options;
  options.several_sizes = true;
  auto dataset = Dataset::Open(WriteShapeDataset("several_sizes", options));
  ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
  const auto task = DescribeTask((*dataset)->schema());
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  EXPECT_TRUE(task->SizesVary());
  const auto smallest = WithSmallestImages(**dataset, *task, "val");
  ASSERT_TRUE(smallest.ok()) << smallest.status().ToString();
  EXPECT_EQ(smallest->image, (Shape{0, 16, 16, 3}));
  auto feed = DataFeed::OpenEvaluation(*dataset, *task, "val", 4);
  ASSERT_TRUE(feed.ok()) << feed.status().ToString();
  int64_t record = 0;
  for (int step = 0; step < 2; ++step) {
    const auto batch = (*feed)->Next();
    ASSERT_TRUE(batch.ok() && batch->has_value());
    const BatchRows rows = (*batch)->rows();
    for (int64_t row = 0; row < rows.labels.n; ++row, ++record) {
      const BatchRows one = SelectRows(rows, row, row + 1);
      ASSERT_EQ(one.images.shape, (Shape{1, 16 + record * 5 % 9, 16 + record * 7 % 9, 3}));
      ASSERT_EQ((Shape{1, one.labels.h, one.labels.w, 3}), one.images.shape);
      // Red stands out from 200 on: pixels and labels belong together only without padding.
      const auto* pixels = static_cast<const uint8_t*>(one.images.data);
      const auto* labels = static_cast<const uint8_t*>(one.labels.data);
      for (int64_t i = 0; i < one.images.shape.Pixels(); ++i) {
        if (labels[i] == 255) continue;
        ASSERT_EQ(labels[i] == 1, pixels[3 * i] >= 200) << record;
      }
    }
  }
  EXPECT_EQ(record, 7);
  TrainingFeedOptions training;
  training.split = "train";
  EXPECT_EQ(DataFeed::OpenTraining(*dataset, *task, training).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(SeveralSizes, LabelsAreTheSameHoweverTheyAreStoredAlsoWithoutAnIgnoreValue) {
  for (const bool has_ignore : {true, false}) {
    std::map<LabelEncoding, std::string> labels;
    for (const LabelEncoding encoding :
         {LabelEncoding::kIndex, LabelEncoding::kOneHotBits, LabelEncoding::kOneHotBytes}) {
      ShapeDatasetOptions options;
      options.several_sizes = true;
      options.encoding = encoding;
      options.has_ignore = has_ignore;
      auto dataset = Dataset::Open(WriteShapeDataset("sizes_and_forms", options));
      ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
      const auto task = DescribeTask((*dataset)->schema());
      ASSERT_TRUE(task.ok()) << task.status().ToString();
      auto feed = DataFeed::OpenEvaluation(*dataset, *task, "val", 4);
      ASSERT_TRUE(feed.ok()) << feed.status().ToString();
      for (int step = 0; step < 2; ++step) {
        const auto batch = (*feed)->Next();
        ASSERT_TRUE(batch.ok() && batch->has_value()) << batch.status().ToString();
        for (int64_t row = 0; row < (*batch)->rows().labels.n; ++row) {
          const LabelBatch one = SelectRows((*batch)->rows(), row, row + 1).labels;
          labels[encoding].append(static_cast<const char*>(one.data), LabelRowBytes(one));
        }
      }
    }
    EXPECT_EQ(labels[LabelEncoding::kOneHotBits], labels[LabelEncoding::kIndex]);
    EXPECT_EQ(labels[LabelEncoding::kOneHotBytes], labels[LabelEncoding::kIndex]);
    EXPECT_EQ(labels[LabelEncoding::kIndex].find('\xff') != std::string::npos, has_ignore);
  }
}

// Images and labels of all batches, of all ranks one behind the other.
struct Seen {
  std::vector<std::string> images, labels;  // per step

  bool operator==(const Seen& other) const {
    return images == other.images && labels == other.labels;
  }
};

void Append(const FeedBatch& batch, size_t step, Seen* seen) {
  seen->images.resize(std::max(seen->images.size(), step + 1));
  seen->labels.resize(seen->images.size());
  const auto image_bytes = static_cast<size_t>(batch.images.shape.Elements());
  seen->images[step].append(static_cast<const char*>(batch.images.data), image_bytes);
  seen->labels[step].append(static_cast<const char*>(batch.labels.data),
                            static_cast<size_t>(batch.labels.n * LabelRowBytes(batch.labels)));
}

Augment EveryChange() {
  Augment augment;
  augment.horizontal_flip = augment.vertical_flip = 0.5;
  augment.crop_height = 12;
  augment.crop_width = 10;
  augment.scale_least = 0.5;
  augment.scale_most = 2;
  augment.brightness = augment.contrast = augment.saturation = 0.3;
  augment.hue = 20;
  return augment;
}

Seen TrainingBatches(const std::shared_ptr<const Dataset>& dataset, const DataTask& task,
                     TrainingFeedOptions options) {
  options.split = "train";
  options.batch = 5;
  options.seed = 3;
  options.epochs = 2;
  Seen seen;
  for (options.rank = 0; options.rank < options.ranks; ++options.rank) {
    auto feed = DataFeed::OpenTraining(dataset, task, options);
    EXPECT_TRUE(feed.ok()) << feed.status().ToString();
    if (!feed.ok()) return seen;
    for (size_t step = 0;; ++step) {
      auto batch = (*feed)->Next();
      EXPECT_TRUE(batch.ok()) << batch.status().ToString();
      if (!batch.ok() || !batch->has_value()) break;
      Append(**batch, step, &seen);
    }
  }
  return seen;
}

TEST_F(DataFeedTest, AugmentedBatchesAreTheSameOnAnyRanksThreadsAndStart) {
  TrainingFeedOptions options;
  options.augment = EveryChange();
  const Seen one = TrainingBatches(dataset_, task_, options);
  ASSERT_EQ(one.images.size(), 8u);
  EXPECT_EQ(one.images[0].size(), 5u * 12 * 10 * 3);
  EXPECT_EQ(one.labels[0].size(), 5u * 12 * 10);
  options.ranks = 2;
  options.threads = 3;
  EXPECT_EQ(TrainingBatches(dataset_, task_, options), one);
  options.first_epoch = 1;
  options.first_step = 2;
  const Seen rest = TrainingBatches(dataset_, task_, options);
  EXPECT_EQ(rest.images, std::vector<std::string>(one.images.begin() + 6, one.images.end()));
  EXPECT_EQ(rest.labels, std::vector<std::string>(one.labels.begin() + 6, one.labels.end()));
  options.augment.hue = 0;
  EXPECT_NE(TrainingBatches(dataset_, task_, options).images, rest.images);
}

TEST_F(DataFeedTest, AugmentedLabelsHoldClassesAndTheIgnoreValueOnly) {
  TrainingFeedOptions options;
  options.augment = EveryChange();
  std::map<uint8_t, int> counts;
  for (const std::string& labels : TrainingBatches(dataset_, task_, options).labels) {
    for (const char label : labels) ++counts[static_cast<uint8_t>(label)];
  }
  EXPECT_EQ(counts.size(), 4u);
  for (const int value : {0, 1, 2, 255}) EXPECT_GT(counts[static_cast<uint8_t>(value)], 50);
}

class LabelFormTest : public testing::Test {
 protected:
  void Open(const std::string& name, const ShapeDatasetOptions& options,
            const std::string& soft_labels) {
    auto dataset = Dataset::Open(WriteShapeDataset(name, options));
    ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
    dataset_ = *dataset;
    auto task = DescribeTask(dataset_->schema(), soft_labels);
    ASSERT_TRUE(task.ok()) << task.status().ToString();
    task_ = *task;
  }

  std::shared_ptr<const Dataset> dataset_;
  DataTask task_;
};

TEST_F(LabelFormTest, OneHotLabelsTrainAsTheClassIdsTheyAre) {
  TrainingFeedOptions options;
  options.augment = EveryChange();
  Open("feed_index", {}, "none");
  const Seen expected = TrainingBatches(dataset_, task_, options);
  for (const LabelEncoding encoding : {LabelEncoding::kOneHotBits, LabelEncoding::kOneHotBytes}) {
    ShapeDatasetOptions shapes;
    shapes.encoding = encoding;
    Open("feed_one_hot", shapes, "none");
    EXPECT_EQ(TrainingBatches(dataset_, task_, options), expected);
  }
}

TEST_F(LabelFormTest, SharesAreLearntAndMoveWithTheImage) {
  ShapeDatasetOptions shapes;
  shapes.shares = true;
  TrainingFeedOptions options;
  options.augment = EveryChange();
  Open("feed_shares", shapes, "none");
  const Seen hard = TrainingBatches(dataset_, task_, options);
  Open("feed_shares", shapes, "shares");
  const Seen soft = TrainingBatches(dataset_, task_, options);
  EXPECT_EQ(soft.images, hard.images);
  ASSERT_EQ(soft.labels.size(), hard.labels.size());
  for (size_t step = 0; step < soft.labels.size(); ++step) {
    ASSERT_EQ(soft.labels[step].size(), hard.labels[step].size() * 3 * sizeof(float));
    for (size_t i = 0; i < hard.labels[step].size(); ++i) {
      const auto k = static_cast<uint8_t>(hard.labels[step][i]);
      for (size_t c = 0; c < 3; ++c) {
        float share;
        std::memcpy(&share, soft.labels[step].data() + (3 * i + c) * sizeof(float), sizeof(float));
        ASSERT_EQ(share, k == 255 ? 0.0f : c == k ? 0.75f : c == (k + 1u) % 3 ? 0.25f : 0.0f);
      }
    }
  }
}

TEST_F(LabelFormTest, TheLargestShareIsTheClassWhereThereAreNoClassIds) {
  Open("feed_index", {}, "none");
  auto feed = DataFeed::OpenEvaluation(dataset_, task_, "val", 4);
  ASSERT_TRUE(feed.ok());
  Seen expected, found;
  for (auto batch = (*feed)->Next(); batch.ok() && batch->has_value(); batch = (*feed)->Next()) {
    Append(**batch, 0, &expected);
  }
  ShapeDatasetOptions shapes;
  shapes.only_shares = true;
  Open("feed_only_shares", shapes, "shares");
  feed = DataFeed::OpenEvaluation(dataset_, task_, "val", 4);
  ASSERT_TRUE(feed.ok()) << feed.status().ToString();
  for (auto batch = (*feed)->Next(); batch.ok() && batch->has_value(); batch = (*feed)->Next()) {
    EXPECT_EQ((*batch)->labels.type, LabelType::kIndexU8);
    Append(**batch, 0, &found);
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace shardmill
