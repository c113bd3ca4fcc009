#include "trainer/optimization/loss_outliers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proto/checkpoint.pb.h"

namespace shardmill {
namespace {

// Falls from 2 to 1 and swings a little.
double Loss(int step) { return 1 + std::exp(-step / 40.0) + 0.1 * std::sin(step * 1.7); }

TEST(LossOutliers, AFallingLossHasNoneAndASpikeIsOne) {
  proto::Progress progress;
  LossOutliers outliers(6, &progress);
  for (int step = 0; step < 200; ++step) {
    ASSERT_FALSE(outliers.Add(Loss(step)).has_value()) << step;
  }
  const double mean = outliers.mean();
  const double deviation = std::sqrt(progress.loss_variance());
  EXPECT_NEAR(mean, 1, 0.1);
  EXPECT_FALSE(outliers.Add(mean + 5.9 * deviation).has_value());
  const auto found = outliers.Add(9);
  ASSERT_TRUE(found.has_value());
  EXPECT_GT(*found, 20);
  // The spike does not hide the next one.
  EXPECT_TRUE(outliers.Add(9).has_value());
  EXPECT_FALSE(outliers.Add(1).has_value());
}

TEST(LossOutliers, TheFirstStepsAndALimitOfZeroGiveNoVerdict) {
  proto::Progress progress;
  LossOutliers outliers(6, &progress);
  for (int step = 0; step < 29; ++step) outliers.Add(1);
  EXPECT_FALSE(outliers.Add(100).has_value());
  EXPECT_EQ(progress.loss_count(), 30u);
  proto::Progress none;
  LossOutliers off(0, &none);
  for (int step = 0; step < 100; ++step) EXPECT_FALSE(off.Add(step == 99 ? 1e6 : 1).has_value());
}

TEST(LossOutliers, MeanAndVarianceOfTheFirstStepsAreExact) {
  proto::Progress progress;
  LossOutliers outliers(6, &progress);
  for (const double loss : {1.0, 2.0, 4.0, 5.0}) outliers.Add(loss);
  EXPECT_DOUBLE_EQ(progress.loss_mean(), 3);
  EXPECT_DOUBLE_EQ(progress.loss_variance(), 2.5);
}

TEST(LossOutliers, AResumedRunGoesOnWithTheSameNumbers) {
  proto::Progress straight, first;
  LossOutliers whole(3, &straight);
  for (int step = 0; step < 120; ++step) whole.Add(Loss(step));
  LossOutliers before(3, &first);
  for (int step = 0; step < 50; ++step) before.Add(Loss(step));
  proto::Progress second = first;
  LossOutliers behind(3, &second);
  for (int step = 50; step < 120; ++step) behind.Add(Loss(step));
  EXPECT_EQ(second.SerializeAsString(), straight.SerializeAsString());
}

}  // namespace
}  // namespace shardmill
