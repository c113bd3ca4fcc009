#include "trainer/graph/parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "trainer/graph/counter_random.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

class ParameterStoreTest : public testing::Test {
 protected:
  void Fill(ParameterStore* store, uint64_t seed) {
    store->AddParameter("a/weight", ParameterKind::kConvolutionWeight, {64, 3, 3, 10}, 90);
    store->AddParameter("a/bias", ParameterKind::kBias, {5, 1, 1, 1}, 1);
    store->AddParameter("n/scale", ParameterKind::kBatchNormScale, {5, 1, 1, 1}, 1);
    store->AddParameter("n/shift", ParameterKind::kBatchNormShift, {5, 1, 1, 1}, 1);
    store->AddStatistic("n/running_mean", StatisticKind::kRunningMean, 5);
    store->AddStatistic("n/running_variance", StatisticKind::kRunningVariance, 5);
    ASSERT_TRUE(store->Allocate(ops_.get(), seed).ok());
  }

  std::unique_ptr<OpTable> ops_ = CreateReferenceOps(ElementType::kF32);
};

TEST_F(ParameterStoreTest, TensorsStartAtAlignedOffsets) {
  ParameterStore store;
  Fill(&store, 1);
  for (const ParameterInfo& info : store.parameters()) {
    EXPECT_EQ(info.offset % kParameterAlignment, 0) << info.name;
  }
  EXPECT_EQ(store.trained_elements(), 5760 + 15);
  EXPECT_EQ(store.parameter_elements(), 5760 + 3 * 16);
  EXPECT_EQ(store.statistic_elements(), 32);
  EXPECT_EQ(store.value_at(2), store.values() + store.parameters()[2].offset);
}

TEST_F(ParameterStoreTest, StartsWithHeNormalWeightsAndNeutralNorm) {
  ParameterStore store;
  Fill(&store, 1);
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < 5760; ++i) {
    sum += store.values()[i];
    squares += store.values()[i] * store.values()[i];
  }
  EXPECT_NEAR(sum / 5760, 0, 0.01);
  EXPECT_NEAR(squares / 5760, 2.0 / 90, 0.001);
  for (int64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(store.values()[store.parameters()[1].offset + i], 0);
    EXPECT_EQ(store.values()[store.parameters()[2].offset + i], i < 5 ? 1 : 0);
    EXPECT_EQ(store.values()[store.parameters()[3].offset + i], 0);
    EXPECT_EQ(store.running_statistics()[i], 0);
    EXPECT_EQ(store.running_statistics()[16 + i], i < 5 ? 1 : 0);
  }
}

TEST_F(ParameterStoreTest, WeightsDependOnSeedAndNameOnly) {
  ParameterStore store, again, other_seed, alone;
  Fill(&store, 1);
  Fill(&again, 1);
  Fill(&other_seed, 2);
  alone.AddParameter("z/weight", ParameterKind::kConvolutionWeight, {7, 1, 1, 1}, 1);
  const int same =
      alone.AddParameter("a/weight", ParameterKind::kConvolutionWeight, {64, 3, 3, 10}, 90);
  ASSERT_TRUE(alone.Allocate(ops_.get(), 1).ok());
  EXPECT_EQ(std::memcmp(store.values(), again.values(), 5760 * 4), 0);
  EXPECT_NE(std::memcmp(store.values(), other_seed.values(), 5760 * 4), 0);
  EXPECT_EQ(std::memcmp(store.values(), alone.value_at(same), 5760 * 4), 0);
}

TEST(CounterRandom, NormalHasTheMomentsOfANormalDistribution) {
  const CounterRandom random(5, "name");
  constexpr int kDraws = 200000;
  double moments[5] = {};
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.Normal(i);
    for (int power = 1; power < 5; ++power) moments[power] += std::pow(value, power) / kDraws;
  }
  EXPECT_NEAR(moments[1], 0, 0.01);
  EXPECT_NEAR(moments[2], 1, 0.015);
  EXPECT_NEAR(moments[3], 0, 0.04);
  EXPECT_NEAR(moments[4], 3, 0.1);
}

TEST(CounterRandom, NamesAndSeedsGiveUnrelatedNumbers) {
  const CounterRandom a(1, "a"), b(1, "b"), seed(2, "a"), empty(1, "");
  double products[3] = {};
  for (int i = 0; i < 20000; ++i) {
    products[0] += a.Normal(i) * b.Normal(i) / 20000;
    products[1] += a.Normal(i) * seed.Normal(i) / 20000;
    products[2] += a.Normal(i) * empty.Normal(i) / 20000;
  }
  for (const double product : products) EXPECT_NEAR(product, 0, 0.03);
}

}  // namespace
}  // namespace shardmill
