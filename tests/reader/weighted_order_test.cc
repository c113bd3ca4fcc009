#include "reader/weighted_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "reader/epoch_order.h"

namespace shardmill {
namespace {

std::shared_ptr<const WeightTable> Table(const std::vector<double>& weights) {
  auto table = WeightTable::Create(weights);
  EXPECT_TRUE(table.ok()) << table.status().ToString();
  return std::make_shared<const WeightTable>(std::move(table).value());
}

std::vector<uint64_t> Draws(const std::vector<double>& weights, uint64_t count, uint64_t seed,
                            uint64_t epoch) {
  WeightedOrder order(Table(weights), count, seed, "train");
  order.StartEpoch(epoch);
  std::vector<uint64_t> records(count);
  EXPECT_TRUE(order.Fill(0, count, records.data()).ok());
  return records;
}

TEST(WeightedOrder, DrawsInProportionToTheWeights) {
  const std::vector<double> weights = {1, 0, 3, 0.5, 0, 5.5, 0};
  constexpr uint64_t kDraws = 100000;
  std::vector<uint64_t> counts(weights.size());
  for (uint64_t record : Draws(weights, kDraws, 4, 1)) ++counts.at(record);
  double chi_square = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double expected = kDraws * weights[i] / 10;
    if (weights[i] == 0) {
      EXPECT_EQ(counts[i], 0u) << i;
      continue;
    }
    chi_square += std::pow(static_cast<double>(counts[i]) - expected, 2) / expected;
  }
  EXPECT_LT(chi_square, 3 + 6 * std::sqrt(2.0 * 3));  // mean + 6 standard deviations
}

TEST(WeightedOrder, EdgesOfTheNumberLineAreEntriesWithAWeight) {
  const auto table = Table({0, 0, 2, 0, 1e-300, 7, 0});
  EXPECT_EQ(table->Draw(0), 2u);
  EXPECT_EQ(table->Draw(~uint64_t{0}), 5u);
}

TEST(WeightedOrder, PositionsAreDrawnAloneAndEpochsAnew) {
  const std::vector<double> weights(1000, 1.0);
  const auto whole = Draws(weights, 5000, 4, 1);
  WeightedOrder order(Table(weights), 5000, 4, "train");
  order.StartEpoch(1);
  for (uint64_t position : {4999, 0, 17, 2500}) {
    uint64_t record = 0;
    ASSERT_TRUE(order.Fill(position, 1, &record).ok());
    EXPECT_EQ(record, whole[position]);
  }
  for (const auto& other : {Draws(weights, 5000, 5, 1), Draws(weights, 5000, 4, 2)}) {
    uint64_t equal = 0;  // about Poisson(5)
    for (size_t i = 0; i < whole.size(); ++i) equal += whole[i] == other[i];
    EXPECT_LT(equal, 25u);
  }
}

TEST(WeightedOrder, BadWeightsAreInvalidArgument) {
  for (const std::vector<double>& weights : {std::vector<double>{1, -1},
                                             {std::nan("")},
                                             {std::numeric_limits<double>::infinity()},
                                             {0, 0},
                                             {1e308, 1e308},
                                             {}}) {
    EXPECT_EQ(WeightTable::Create(weights).status().code(), StatusCode::kInvalidArgument);
  }
}

// A promise to every run that resumes: these change only with kEpochOrderVersion.
TEST(WeightedOrder, GoldenValuesOfVersion1) {
  ASSERT_EQ(kEpochOrderVersion, 1u);
  std::vector<double> weights;
  for (int i = 0; i < 1000; ++i) weights.push_back(1 + i % 7);
  const auto draws = Draws(weights, 1000, 1, 2);
  EXPECT_EQ(std::vector<uint64_t>(draws.begin(), draws.begin() + 8),
            (std::vector<uint64_t>{544, 769, 893, 815, 370, 734, 146, 936}));
}

}  // namespace
}  // namespace shardmill
