#include "reader/epoch_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace shardmill {
namespace {

std::vector<uint64_t> Whole(const EpochOrder& order) {
  std::vector<uint64_t> records(order.records());
  order.Fill(0, records.size(), records.data());
  return records;
}

bool IsPermutation(std::vector<uint64_t> records) {
  std::sort(records.begin(), records.end());
  for (uint64_t i = 0; i < records.size(); ++i) {
    if (records[i] != i) return false;
  }
  return true;
}

// Chi-square of counts against one expected value.
double ChiSquare(const std::vector<uint64_t>& counts, double expected) {
  double sum = 0;
  for (uint64_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

// Mean + 6 standard deviations of a chi-square variable (variance 2 k). The tail beyond it is
// below 1e-6 for the degrees of freedom used here, and the seeds are fixed.
double ChiSquareBound(double degrees_of_freedom) {
  return degrees_of_freedom + 6 * std::sqrt(2 * degrees_of_freedom);
}

// Chi-square of the 32 x 32 table of (bucket of a, bucket of b); for independent permutations it
// has 31^2 degrees of freedom.
double PairChiSquare(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  constexpr uint64_t kBuckets = 32;
  const uint64_t records = a.size();
  std::vector<uint64_t> counts(kBuckets * kBuckets);
  for (uint64_t i = 0; i < records; ++i) {
    ++counts[a[i] * kBuckets / records * kBuckets + b[i] * kBuckets / records];
  }
  return ChiSquare(counts, static_cast<double>(records) / (kBuckets * kBuckets));
}

std::vector<uint64_t> Identity(uint64_t records) {
  std::vector<uint64_t> identity(records);
  std::iota(identity.begin(), identity.end(), 0);
  return identity;
}

TEST(EpochOrder, NoRecordsHaveNoPositions) {
  const EpochOrder order(0, 1, 2, "train");
  EXPECT_EQ(order.records(), 0u);
  order.Fill(0, 0, nullptr);
}

TEST(EpochOrder, IsABijectionForEverySizeUpTo300) {
  for (uint64_t records = 1; records <= 300; ++records) {
    ASSERT_TRUE(IsPermutation(Whole(EpochOrder(records, 7, records, "train")))) << records;
  }
}

TEST(EpochOrder, IsABijectionForSizesUpTo100000) {
  for (uint64_t records = 301; records <= 100000; records += records / 7) {
    ASSERT_TRUE(IsPermutation(Whole(EpochOrder(records, 7, records, "train")))) << records;
  }
}

TEST(EpochOrder, IsABijectionAroundTheChangeOfMethodAndDomain) {
  for (uint64_t records :
       {1023, 1024, 1025, 65535, 65536, 65537, 100000, 131072, 262143, 262144, 262145, 1000003}) {
    ASSERT_TRUE(IsPermutation(Whole(EpochOrder(records, 3, 1, "train")))) << records;
  }
}

TEST(EpochOrder, LargeSetsHaveNoRepeatsInAnyWindow) {
  for (uint64_t records : {uint64_t{1000000}, uint64_t{1} << 30, uint64_t{10000000000},
                           uint64_t{1000000000000}, uint64_t{1} << 63, ~uint64_t{0}}) {
    const EpochOrder order(records, 11, 5, "train");
    std::vector<uint64_t> seen;
    constexpr uint64_t kWindow = 50000;
    for (uint64_t first : {uint64_t{0}, records / 2, records - kWindow}) {
      std::vector<uint64_t> window(kWindow);
      order.Fill(first, kWindow, window.data());
      seen.insert(seen.end(), window.begin(), window.end());
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_LT(seen.back(), records);
    EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end()) << records;
  }
}

// A position that every record finds back to is taken by no other record.
TEST(EpochOrder, PositionOfIsTheInverseAtEverySizeUpTo1e12) {
  for (uint64_t records = 1; records <= 1000000000000; records *= 10) {
    const EpochOrder order(records, 21, 8, "train");
    const uint64_t stride = std::max<uint64_t>(1, records / 997);
    for (uint64_t position = 0; position < records; position += stride) {
      const uint64_t record = order.At(position);
      ASSERT_LT(record, records);
      ASSERT_EQ(order.PositionOf(record), position) << records;
      ASSERT_EQ(order.At(order.PositionOf(position)), position) << records;
    }
  }
}

TEST(EpochOrder, HugeSetsAreSampledEvenlyByAnyRangeOfPositions) {
  constexpr uint64_t kBuckets = 64;
  constexpr uint64_t kSamples = 64000;
  for (uint64_t records : {uint64_t{1000000}, uint64_t{1000000007}, uint64_t{1000000000000}}) {
    for (uint64_t first : {uint64_t{0}, records / 3, records - kSamples}) {
      std::vector<uint64_t> sample(kSamples);
      EpochOrder(records, 5, 2, "train").Fill(first, kSamples, sample.data());
      std::vector<uint64_t> counts(kBuckets);
      for (uint64_t record : sample) ++counts[record / ((records + kBuckets - 1) / kBuckets)];
      EXPECT_LT(ChiSquare(counts, static_cast<double>(kSamples) / kBuckets),
                ChiSquareBound(kBuckets - 1))
          << records << " from " << first;
    }
  }
}

TEST(EpochOrder, FillEqualsAtForEveryRange) {
  for (uint64_t records : {1000, 70000}) {
    const EpochOrder order(records, 5, 9, "val");
    for (uint64_t first : {0, 1, 7, 500}) {
      for (uint64_t count : {0, 1, 7, 8, 9, 64, 100}) {
        std::vector<uint64_t> filled(count);
        order.Fill(first, count, filled.data());
        for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(filled[i], order.At(first + i));
      }
    }
  }
}

TEST(EpochOrder, AllPermutationsOfFiveRecordsAreEquallyLikely) {
  std::map<std::vector<uint64_t>, uint64_t> counts;
  constexpr uint64_t kSeeds = 24000;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    ++counts[Whole(EpochOrder(5, seed, 0, "train"))];
  }
  ASSERT_EQ(counts.size(), 120u);
  std::vector<uint64_t> values;
  for (const auto& entry : counts) values.push_back(entry.second);
  EXPECT_LT(ChiSquare(values, kSeeds / 120.0), ChiSquareBound(119));
}

TEST(EpochOrder, RecordsAreSpreadEvenlyOverPositions) {
  for (uint64_t records : {40000, 65537, 200000, 262144}) {
    const double chi_square =
        PairChiSquare(Identity(records), Whole(EpochOrder(records, 1, 0, "train")));
    EXPECT_LT(chi_square, ChiSquareBound(31 * 31)) << records;
    // Far too even would betray structure just as well.
    EXPECT_GT(chi_square, 31 * 31 - 6 * std::sqrt(2.0 * 31 * 31)) << records;
  }
}

TEST(EpochOrder, OnePositionVisitsAllRecordsEvenlyOverEpochs) {
  constexpr uint64_t kBuckets = 50;
  for (uint64_t records : {50000, 100000}) {
    const std::vector<uint64_t> positions = {0, 1, records / 2, records - 1};
    std::vector<std::vector<uint64_t>> counts(positions.size(), std::vector<uint64_t>(kBuckets));
    const uint64_t epochs = records <= 65536 ? 1000 : 20000;
    for (uint64_t epoch = 0; epoch < epochs; ++epoch) {
      const EpochOrder order(records, 4, epoch, "train");
      for (size_t i = 0; i < positions.size(); ++i) {
        ++counts[i][order.At(positions[i]) * kBuckets / records];
      }
    }
    for (const auto& count : counts) {
      EXPECT_LT(ChiSquare(count, static_cast<double>(epochs) / kBuckets),
                ChiSquareBound(kBuckets - 1));
    }
  }
}

TEST(EpochOrder, AdjacentSeedsEpochsAndSplitsAreIndependent) {
  for (uint64_t records : {40000, 100000}) {
    const auto base = Whole(EpochOrder(records, 100, 50, "train"));
    for (const auto& other : {Whole(EpochOrder(records, 101, 50, "train")),
                              Whole(EpochOrder(records, 100, 51, "train")),
                              Whole(EpochOrder(records, 50, 100, "train")),
                              Whole(EpochOrder(records, 100, 50, "val"))}) {
      EXPECT_LT(PairChiSquare(base, other), ChiSquareBound(31 * 31));
      uint64_t equal = 0;  // about Poisson(1)
      for (uint64_t i = 0; i < records; ++i) equal += base[i] == other[i];
      EXPECT_LT(equal, 10u);
    }
  }
}

TEST(EpochOrder, NeighboursInTheSetAreNotNeighboursInTheOrder) {
  for (uint64_t records : {40000, 100000, 262144}) {
    const auto order = Whole(EpochOrder(records, 2, 3, "train"));
    uint64_t neighbours = 0;  // about Poisson(2)
    for (uint64_t i = 1; i < records; ++i) {
      neighbours += order[i] == order[i - 1] + 1 || order[i] + 1 == order[i - 1];
    }
    EXPECT_LT(neighbours, 14u);
    // The differences of successive records, modulo the size, are spread evenly too.
    std::vector<uint64_t> counts(64);
    for (uint64_t i = 1; i < records; ++i) {
      ++counts[(order[i] + records - order[i - 1]) % records * 64 / records];
    }
    EXPECT_LT(ChiSquare(counts, static_cast<double>(records - 1) / 64), ChiSquareBound(63));
  }
}

// The mapping is a promise to every run that resumes: it changes only with kEpochOrderVersion.
TEST(EpochOrder, GoldenValuesOfVersion1) {
  ASSERT_EQ(kEpochOrderVersion, 1u);
  auto first_eight = [](const EpochOrder& order) {
    std::vector<uint64_t> records(8);
    order.Fill(0, 8, records.data());
    return records;
  };
  EXPECT_EQ(first_eight(EpochOrder(10, 0, 0, "train")),
            (std::vector<uint64_t>{8, 4, 0, 3, 5, 1, 2, 6}));
  EXPECT_EQ(first_eight(EpochOrder(367, 1, 2, "train")),
            (std::vector<uint64_t>{320, 130, 146, 362, 344, 242, 21, 335}));
  EXPECT_EQ(first_eight(EpochOrder(65537, 1, 2, "val")),
            (std::vector<uint64_t>{27464, 12586, 47561, 36492, 13754, 38506, 3995, 7742}));
  EXPECT_EQ(first_eight(EpochOrder(1000000000000, 42, 7, "train")),
            (std::vector<uint64_t>{307886495732, 939049488404, 334846889135, 348410947974,
                                   65635094144, 857077193821, 164434983851, 35684255276}));
}

TEST(SliceForRank, SlicesTileTheGlobalBatchExactly) {
  for (uint32_t ranks : {1, 2, 3, 8, 1000}) {
    for (uint64_t batch : {uint64_t{1000}, uint64_t{1001}, uint64_t{1023}, uint64_t{4294967295}}) {
      uint64_t next = 0;
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        const RankSlice slice = SliceForRank(batch, rank, ranks);
        ASSERT_EQ(slice.begin, next);
        ASSERT_GE(slice.end - slice.begin, batch / ranks);
        ASSERT_LE(slice.end - slice.begin, batch / ranks + 1);
        next = slice.end;
      }
      ASSERT_EQ(next, batch);
    }
  }
}

TEST(SliceForRank, AnyWorldSizeGivesTheSameGlobalSequence) {
  constexpr uint64_t kRecords = 1000;
  constexpr uint64_t kBatch = 24;
  const EpochOrder order(kRecords, 6, 1, "train");
  std::vector<uint64_t> expected(kRecords / kBatch * kBatch);
  order.Fill(0, expected.size(), expected.data());
  for (uint32_t ranks : {1, 2, 3, 8}) {
    std::vector<uint64_t> global;
    for (uint64_t batch = 0; batch < kRecords / kBatch; ++batch) {
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        const RankSlice slice = SliceForRank(kBatch, rank, ranks);
        std::vector<uint64_t> part(slice.end - slice.begin);
        order.Fill(batch * kBatch + slice.begin, part.size(), part.data());
        global.insert(global.end(), part.begin(), part.end());
      }
    }
    ASSERT_EQ(global, expected) << ranks;
  }
}

}  // namespace
}  // namespace shardmill
