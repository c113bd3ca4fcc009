#include "reader/block_window_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "reader/epoch_order.h"

namespace shardmill {
namespace {

std::vector<uint64_t> Range(BlockWindowOrder* order, uint64_t first, uint64_t count) {
  std::vector<uint64_t> records(count);
  EXPECT_TRUE(order->Fill(first, count, records.data()).ok());
  return records;
}

std::vector<uint64_t> Epoch(uint64_t records, const BlockWindow& window, uint64_t seed,
                            uint64_t epoch, const std::string& split = "train") {
  BlockWindowOrder order(records, window, seed, split);
  EXPECT_EQ(order.length(), records);
  order.StartEpoch(epoch);
  return Range(&order, 0, records);
}

bool IsPermutation(std::vector<uint64_t> records) {
  std::sort(records.begin(), records.end());
  for (uint64_t i = 0; i < records.size(); ++i) {
    if (records[i] != i) return false;
  }
  return true;
}

TEST(BlockWindowOrder, IsABijectionForAnySizeBlockAndWindow) {
  for (uint64_t records = 1; records <= 120; ++records) {
    for (uint64_t block : {1, 2, 7, 16, 200}) {
      for (uint64_t window : {1, 2, 5, 100}) {
        ASSERT_TRUE(IsPermutation(Epoch(records, {block, window}, 3, records)))
            << records << " records, blocks of " << block << ", windows of " << window;
      }
    }
  }
  for (uint64_t records : {65537, 100000, 299999}) {
    ASSERT_TRUE(IsPermutation(Epoch(records, {100, 64}, 3, 0))) << records;
    ASSERT_TRUE(IsPermutation(Epoch(records, {1, 70000}, 3, 0))) << records;
  }
}

TEST(BlockWindowOrder, HugeSetsHaveNoRepeatsAndStayInRange) {
  constexpr uint64_t kPart = 20000;
  for (uint64_t records : {uint64_t{100000007}, uint64_t{1000000000000}}) {
    BlockWindowOrder order(records, {333, 17}, 9, "train");
    order.StartEpoch(4);
    std::set<uint64_t> seen;
    for (uint64_t first : {uint64_t{0}, records / 2, records - kPart}) {
      for (uint64_t record : Range(&order, first, kPart)) {
        ASSERT_LT(record, records);
        ASSERT_TRUE(seen.insert(record).second) << record;
      }
    }
  }
}

TEST(BlockWindowOrder, EachWindowHoldsWholeBlocks) {
  constexpr uint64_t kRecords = 1003;  // 125 blocks of 8 and one of 3
  const auto order = Epoch(kRecords, {8, 10}, 1, 2);
  uint64_t first = 0;
  while (first < kRecords) {
    // The window with the short block is shorter by 5.
    std::set<uint64_t> blocks;
    const uint64_t full = std::min<uint64_t>(80, kRecords - first);
    for (uint64_t i = 0; i < full; ++i) blocks.insert(order[first + i] / 8);
    const bool has_short_block = blocks.count(125) != 0;
    const uint64_t count = full == 80 && has_short_block ? 75 : full;
    blocks.clear();
    for (uint64_t i = 0; i < count; ++i) blocks.insert(order[first + i] / 8);
    EXPECT_EQ(blocks.size(), (count + 7) / 8) << "window at " << first;
    first += count;
  }
}

TEST(BlockWindowOrder, AnyRangeInAnyOrderGivesTheSameRecords) {
  const auto whole = Epoch(1003, {8, 10}, 1, 2);
  BlockWindowOrder order(1003, {8, 10}, 1, "train");
  order.StartEpoch(7);  // another epoch leaves nothing behind
  Range(&order, 0, 1003);
  order.StartEpoch(2);
  for (uint64_t first : {1000, 0, 500, 79, 80, 81, 75, 640, 3}) {
    for (uint64_t count : {0, 1, 3, 80, 200}) {
      count = std::min<uint64_t>(count, 1003 - first);
      const auto expected = std::vector<uint64_t>(whole.begin() + static_cast<long>(first),
                                                  whole.begin() + static_cast<long>(first + count));
      ASSERT_EQ(Range(&order, first, count), expected) << first << " + " << count;
    }
  }
}

TEST(BlockWindowOrder, SeedsEpochsAndSplitsHaveDifferentOrders) {
  const auto base = Epoch(1003, {8, 10}, 1, 2);
  EXPECT_EQ(Epoch(1003, {8, 10}, 1, 2), base);
  for (const auto& other : {Epoch(1003, {8, 10}, 2, 2), Epoch(1003, {8, 10}, 1, 3),
                            Epoch(1003, {8, 10}, 1, 2, "val")}) {
    uint64_t equal = 0;  // about Poisson(1)
    for (size_t i = 0; i < base.size(); ++i) equal += base[i] == other[i];
    EXPECT_LT(equal, 10u);
  }
}

// The mean over batches of the entropy, in bits, of the classes in a batch; the records are sorted
// by class.
double BatchEntropy(const std::vector<uint64_t>& order, uint64_t classes, uint64_t batch) {
  double sum = 0;
  const uint64_t batches = order.size() / batch;
  for (uint64_t b = 0; b < batches; ++b) {
    std::vector<double> counts(classes);
    for (uint64_t i = 0; i < batch; ++i) {
      counts[order[b * batch + i] * classes / order.size()] += 1;
    }
    for (double count : counts) {
      const double share = count / static_cast<double>(batch);
      if (share > 0) sum -= share * std::log2(share);
    }
  }
  return sum / static_cast<double>(batches);
}

// 20 classes of 1000 records, sorted; batches of 256; blocks of 25 records, so that each has one
// class. A uniform shuffle gives the entropy that is possible; a window of 64 blocks loses less
// than a tenth of it, one block at a time nearly all.
TEST(BlockWindowOrder, MixesClassSortedRecordsAlmostLikeAUniformShuffle) {
  constexpr uint64_t kRecords = 20000;
  std::vector<uint64_t> uniform(kRecords);
  EpochOrder(kRecords, 1, 0, "train").Fill(0, kRecords, uniform.data());
  const double best = BatchEntropy(uniform, 20, 256);
  double last = 0;
  for (uint64_t window : {1, 4, 16, 64, 256}) {
    const double entropy = BatchEntropy(Epoch(kRecords, {25, window}, 1, 0), 20, 256);
    RecordProperty("entropy_of_window_" + std::to_string(window), std::to_string(entropy / best));
    EXPECT_GT(entropy, last) << window;
    last = entropy;
    if (window == 1) {
      EXPECT_LT(entropy, 0.8 * best);
    }
    if (window == 64) {
      EXPECT_GT(entropy, 0.92 * best);
    }
    if (window == 256) {
      EXPECT_GT(entropy, 0.98 * best);
    }
  }
  EXPECT_GT(best, 0.98 * std::log2(20.0));
}

// A promise to every run that resumes: these change only with kEpochOrderVersion.
TEST(BlockWindowOrder, GoldenValuesOfVersion1) {
  ASSERT_EQ(kEpochOrderVersion, 1u);
  BlockWindowOrder small(1003, {8, 10}, 1, "train");
  small.StartEpoch(2);
  EXPECT_EQ(Range(&small, 0, 8), (std::vector<uint64_t>{712, 963, 939, 962, 937, 714, 531, 936}));
  BlockWindowOrder huge(1000000000000, {4096, 64}, 42, "train");
  huge.StartEpoch(7);
  EXPECT_EQ(Range(&huge, 500000000000, 4),
            (std::vector<uint64_t>{511322935707, 29299709952, 837431419636, 665261659909}));
}

}  // namespace
}  // namespace shardmill
