#include "reader/bucket_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "reader/epoch_order.h"
#include "reader/keyed_permutation.h"

namespace shardmill {
namespace {

constexpr uint64_t kRecords = 1003;

// Lengths without a relation to the record's number.
uint64_t LengthOf(uint64_t record) { return KeyedHash({7, 7}, record) % 200; }

class Shuffled : public RecordOrder {
 public:
  uint64_t length() const override { return kRecords; }
  void StartEpoch(uint64_t epoch) override {
    permutation_.Reset(kRecords, MakeOrderKey(1, epoch, "train"));
  }
  Status Fill(uint64_t first, uint64_t count, uint64_t* out) override {
    permutation_.Fill(first, count, out);
    return OkStatus();
  }

 private:
  KeyedPermutation permutation_;
};

BucketOrder Buckets(uint64_t global_batch, uint64_t window_batches) {
  return BucketOrder(std::make_unique<Shuffled>(),
                     [](uint64_t record, uint64_t* length) {
                       *length = LengthOf(record);
                       return OkStatus();
                     },
                     {global_batch, window_batches, 1, "train"});
}

std::vector<uint64_t> Range(RecordOrder* order, uint64_t first, uint64_t count) {
  std::vector<uint64_t> records(count);
  EXPECT_TRUE(order->Fill(first, count, records.data()).ok());
  return records;
}

std::vector<uint64_t> Plain(uint64_t epoch) {
  std::vector<uint64_t> records(kRecords);
  EpochOrder(kRecords, 1, epoch, "train").Fill(0, kRecords, records.data());
  return records;
}

// Sum over the batches of (longest - length): what padding to the longest adds.
uint64_t PaddingOf(const std::vector<uint64_t>& records, uint64_t batch) {
  uint64_t padding = 0;
  for (size_t first = 0; first + batch <= records.size(); first += batch) {
    uint64_t longest = 0;
    for (size_t i = first; i < first + batch; ++i)
      longest = std::max(longest, LengthOf(records[i]));
    for (size_t i = first; i < first + batch; ++i) padding += longest - LengthOf(records[i]);
  }
  return padding;
}

TEST(BucketOrder, EachWindowHoldsTheRecordsItHeldAndTheTailStays) {
  BucketOrder order = Buckets(10, 8);
  order.StartEpoch(3);
  const auto plain = Plain(3);
  auto bucketed = Range(&order, 0, kRecords);
  for (size_t first = 0; first < 1000; first += 80) {
    const size_t end = std::min<size_t>(first + 80, 1000);
    std::vector<uint64_t> expected(plain.begin() + static_cast<long>(first),
                                   plain.begin() + static_cast<long>(end));
    std::vector<uint64_t> window(bucketed.begin() + static_cast<long>(first),
                                 bucketed.begin() + static_cast<long>(end));
    EXPECT_NE(window, expected);
    std::sort(expected.begin(), expected.end());
    std::sort(window.begin(), window.end());
    ASSERT_EQ(window, expected) << first;
  }
  for (size_t i = 1000; i < kRecords; ++i) EXPECT_EQ(bucketed[i], plain[i]);
}

TEST(BucketOrder, PaddingShrinksAndBatchesAreNotInOrderOfLength) {
  BucketOrder order = Buckets(10, 50);
  order.StartEpoch(0);
  const auto bucketed = Range(&order, 0, kRecords);
  EXPECT_LT(PaddingOf(bucketed, 10) * 10, PaddingOf(Plain(0), 10));
  uint64_t rising = 0;
  for (size_t batch = 1; batch < 50; ++batch) {
    rising += LengthOf(bucketed[batch * 10]) > LengthOf(bucketed[batch * 10 - 10]);
  }
  EXPECT_GT(rising, 10u);
  EXPECT_LT(rising, 40u);
}

TEST(BucketOrder, AnyRangeInAnyOrderGivesTheSameRecords) {
  BucketOrder order = Buckets(10, 8);
  order.StartEpoch(3);
  const auto whole = Range(&order, 0, kRecords);
  order.StartEpoch(4);
  EXPECT_NE(Range(&order, 0, kRecords), whole);
  order.StartEpoch(3);
  for (uint64_t first : {990, 0, 79, 80, 500, 1001}) {
    for (uint64_t count : {0, 1, 90, 400}) {
      count = std::min<uint64_t>(count, kRecords - first);
      ASSERT_EQ(Range(&order, first, count),
                std::vector<uint64_t>(whole.begin() + static_cast<long>(first),
                                      whole.begin() + static_cast<long>(first + count)));
    }
  }
}

TEST(BucketOrder, ALengthThatCannotBeReadIsAnErrorEachTime) {
  bool fails = true;
  BucketOrder order(std::make_unique<Shuffled>(),
                    [&](uint64_t record, uint64_t* length) {
                      *length = LengthOf(record);
                      return fails ? DataLossError("damaged") : OkStatus();
                    },
                    {10, 8, 1, "train"});
  order.StartEpoch(0);
  uint64_t record = 0;
  EXPECT_EQ(order.Fill(0, 1, &record).code(), StatusCode::kDataLoss);
  EXPECT_EQ(order.Fill(0, 1, &record).code(), StatusCode::kDataLoss);
  fails = false;
  EXPECT_TRUE(order.Fill(0, 1, &record).ok());
}

class Counting : public RecordOrder {
 public:
  uint64_t length() const override { return kRecords; }
  void StartEpoch(uint64_t) override {}
  Status Fill(uint64_t first, uint64_t count, uint64_t* out) override {
    std::iota(out, out + count, first);
    return OkStatus();
  }
};

// A promise to every run that resumes: these change only with kEpochOrderVersion.
TEST(BucketOrder, GoldenValuesOfVersion1) {
  ASSERT_EQ(kEpochOrderVersion, 1u);
  BucketOrder order(std::make_unique<Counting>(),
                    [](uint64_t record, uint64_t* length) {
                      *length = record * 37 % 101;
                      return OkStatus();
                    },
                    {4, 25, 1, "train"});
  order.StartEpoch(2);
  EXPECT_EQ(Range(&order, 100, 8), (std::vector<uint64_t>{121, 132, 162, 192, 100, 130, 160, 190}));
}

}  // namespace
}  // namespace shardmill
