// Which records the batches hold: epochs, ranks, tail policies, resuming, threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reader/batch_loader.h"
#include "reader/epoch_order.h"
#include "tests/reader/loader_testing.h"

namespace shardmill {
namespace {

BatchLoaderOptions Options(uint64_t global_batch) {
  BatchLoaderOptions options;
  options.split = "train";
  options.global_batch = global_batch;
  options.threads = 2;
  options.seed = 17;
  return options;
}

std::shared_ptr<const Dataset> TinyDataset(uint64_t records) {
  TestDatasetOptions options;
  options.records = records;
  options.height = 2;
  options.width = 2;
  options.shards = records < 3 ? 1 : 3;
  return OpenTestDataset("order-" + std::to_string(records), options);
}

// The records with weight 1 of one epoch, over all ranks, step by step and rank by rank.
std::vector<uint64_t> EpochRecords(const std::shared_ptr<const Dataset>& dataset,
                                   BatchLoaderOptions options, uint32_t ranks) {
  std::vector<std::vector<SeenBatch>> of_rank;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    options.rank = rank;
    options.ranks = ranks;
    of_rank.push_back(ReadAll(dataset, options));
    EXPECT_EQ(of_rank.back().size(), of_rank.front().size());
  }
  std::vector<uint64_t> records;
  for (size_t step = 0; step < of_rank.front().size(); ++step) {
    int64_t sound_rows = 0;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const SeenBatch& batch = of_rank[rank][step];
      EXPECT_EQ(batch.step, step);
      for (size_t row = 0; row < batch.records.size(); ++row) {
        if (batch.weights[row] == 0) continue;
        EXPECT_EQ(batch.weights[row], 1);
        records.push_back(batch.records[row]);
        ++sound_rows;
      }
      EXPECT_EQ(batch.global_rows, of_rank[0][step].global_rows);
    }
    EXPECT_EQ(sound_rows, of_rank[0][step].global_rows);
  }
  return records;
}

TEST(BatchLoaderOrder, EveryRecordOncePerEpochForAnyBatchRanksAndTail) {
  for (uint64_t records : {1, 7, 48, 101}) {
    const auto dataset = TinyDataset(records);
    std::vector<uint64_t> expected(records);
    EpochOrder(records, 17, 0, "train").Fill(0, records, expected.data());
    for (uint64_t batch : {1, 3, 8, 64}) {
      for (uint32_t ranks : {1, 2, 3, 8}) {
        if (batch < ranks) continue;
        for (TailPolicy tail : {TailPolicy::kDrop, TailPolicy::kPad, TailPolicy::kPartial}) {
          if (tail == TailPolicy::kDrop && records < batch) continue;
          SCOPED_TRACE(testing::Message() << records << " records, batch " << batch << ", ranks "
                                          << ranks << ", tail " << static_cast<int>(tail));
          BatchLoaderOptions options = Options(batch);
          options.tail = tail;
          std::vector<uint64_t> whole = expected;
          if (tail == TailPolicy::kDrop) whole.resize(records / batch * batch);
          ASSERT_EQ(EpochRecords(dataset, options, ranks), whole);
        }
      }
    }
  }
}

TEST(BatchLoaderOrder, PaddingRepeatsRecordsOfTheEpochWithWeightZero) {
  const auto dataset = TinyDataset(7);
  BatchLoaderOptions options = Options(20);
  options.tail = TailPolicy::kPad;
  const auto batches = ReadAll(dataset, options);
  ASSERT_EQ(batches.size(), 1u);
  ASSERT_EQ(batches[0].records.size(), 20u);
  EXPECT_EQ(batches[0].global_rows, 7);
  for (size_t row = 0; row < 20; ++row) {
    EXPECT_EQ(batches[0].records[row], batches[0].records[row % 7]);
    EXPECT_EQ(batches[0].weights[row], row < 7 ? 1 : 0);
  }
}

TEST(BatchLoaderOrder, PartialBatchReachesEveryRankEvenWithoutRows) {
  const auto dataset = TinyDataset(7);
  BatchLoaderOptions options = Options(6);
  options.tail = TailPolicy::kPartial;
  options.ranks = 6;
  int64_t rows = 0;
  for (uint32_t rank = 0; rank < 6; ++rank) {
    options.rank = rank;
    const auto batches = ReadAll(dataset, options);
    ASSERT_EQ(batches.size(), 2u);
    EXPECT_EQ(batches[1].global_rows, 1);
    rows += static_cast<int64_t>(batches[1].records.size());
  }
  EXPECT_EQ(rows, 1);
}

TEST(BatchLoaderOrder, EachEpochHasItsOwnOrder) {
  const auto dataset = TinyDataset(101);
  BatchLoaderOptions options = Options(10);
  options.tail = TailPolicy::kPartial;
  options.epochs = 3;
  const auto batches = ReadAll(dataset, options);
  ASSERT_EQ(batches.size(), 33u);
  std::vector<std::vector<uint64_t>> epochs(3);
  for (size_t i = 0; i < batches.size(); ++i) {
    EXPECT_EQ(batches[i].epoch, i / 11);
    EXPECT_EQ(batches[i].step, i % 11);
    auto& epoch = epochs[batches[i].epoch];
    epoch.insert(epoch.end(), batches[i].records.begin(), batches[i].records.end());
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
  for (auto& epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    for (uint64_t i = 0; i < 101; ++i) ASSERT_EQ(epoch[i], i);
  }
}

TEST(BatchLoaderOrder, AnotherSeedGivesAnotherOrder) {
  const auto dataset = TinyDataset(101);
  BatchLoaderOptions options = Options(10);
  const auto first = ReadAll(dataset, options);
  options.seed = 18;
  EXPECT_NE(ReadAll(dataset, options)[0].records, first[0].records);
}

TEST(BatchLoaderOrder, StoredOrderCountsUpInEveryEpoch) {
  const auto dataset = TinyDataset(101);
  BatchLoaderOptions options = Options(10);
  options.order = Order::kStored;
  options.tail = TailPolicy::kPad;
  options.epochs = 2;
  const auto batches = ReadAll(dataset, options);
  ASSERT_EQ(batches.size(), 22u);
  for (const SeenBatch& batch : batches) {
    for (size_t row = 0; row < 10; ++row) {
      ASSERT_EQ(batch.records[row], (batch.step * 10 + row) % 101);
    }
  }
}

TEST(BatchLoaderOrder, ResumingAtAnyStepEqualsTheStraightRun) {
  const auto dataset = TinyDataset(48);
  for (TailPolicy tail : {TailPolicy::kDrop, TailPolicy::kPad, TailPolicy::kPartial}) {
    BatchLoaderOptions options = Options(7);
    options.tail = tail;
    options.ranks = 2;
    options.rank = 1;
    options.epochs = 3;
    options.first_epoch = 5;
    const auto straight = ReadAll(dataset, options);
    const uint64_t steps = straight.size() / 3;
    for (uint64_t start = 0; start <= straight.size(); ++start) {
      BatchLoaderOptions resumed = options;
      resumed.first_epoch = 5 + start / steps;
      resumed.first_step = start % steps;
      resumed.epochs = 3 - start / steps;
      if (resumed.epochs == 0) break;
      const auto rest = ReadAll(dataset, resumed);
      ASSERT_EQ(rest,
                std::vector<SeenBatch>(straight.begin() + static_cast<long>(start), straight.end()))
          << "start " << start;
    }
  }
}

TEST(BatchLoaderOrder, ResumingBehindTheLastStepBeginsTheNextEpoch) {
  const auto dataset = TinyDataset(48);
  BatchLoaderOptions options = Options(7);
  options.epochs = 2;
  const auto straight = ReadAll(dataset, options);
  ASSERT_EQ(straight.size(), 12u);
  options.first_step = 6;
  EXPECT_EQ(ReadAll(dataset, options),
            std::vector<SeenBatch>(straight.begin() + 6, straight.end()));
  options.epochs = 1;
  EXPECT_TRUE(ReadAll(dataset, options).empty());
}

TEST(BatchLoaderOrder, AnyWorldSizeSeesTheSameGlobalBatches) {
  const auto dataset = TinyDataset(101);
  BatchLoaderOptions options = Options(24);
  options.tail = TailPolicy::kPad;
  const auto expected = EpochRecords(dataset, options, 1);
  for (uint32_t ranks : {2, 3, 8, 24}) {
    ASSERT_EQ(EpochRecords(dataset, options, ranks), expected);
  }
}

TEST(BatchLoaderOrder, ThreadsAndSlotsChangeNothing) {
  TestDatasetOptions test_options;
  test_options.records = 120;
  test_options.height = 64;
  test_options.width = 64;
  const auto dataset = OpenTestDataset("threads", test_options);
  BatchLoaderOptions options = Options(50);  // several parts per batch
  options.tail = TailPolicy::kPartial;
  options.fields = {{"image"}, {"label", Delivery::kOneHotF32}, {"number"}};
  options.epochs = 2;
  options.threads = 1;
  const auto expected = ReadAll(dataset, options);
  ASSERT_EQ(expected.size(), 6u);
  for (int threads : {2, 4}) {
    for (int slots : {1, 2, 5}) {
      options.threads = threads;
      options.slots = slots;
      ASSERT_EQ(ReadAll(dataset, options), expected)
          << threads << " threads, " << slots << " slots";
    }
  }
}

TEST(BatchLoaderOrder, ReadAheadChangesNothing) {
  const auto dataset = TinyDataset(101);
  for (Order order : {Order::kShuffled, Order::kStored}) {
    for (TailPolicy tail : {TailPolicy::kDrop, TailPolicy::kPad, TailPolicy::kPartial}) {
      BatchLoaderOptions options = Options(7);
      options.order = order;
      options.tail = tail;
      options.ranks = 3;
      options.rank = 2;
      options.epochs = 2;
      options.read_ahead = ReadAhead::kNever;
      const auto expected = ReadAll(dataset, options);
      options.read_ahead = ReadAhead::kAlways;
      ASSERT_EQ(ReadAll(dataset, options), expected);
    }
  }
}

}  // namespace
}  // namespace shardmill
