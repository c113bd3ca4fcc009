#include "trainer/optimization/weight_average.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "proto/checkpoint.pb.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

class WeightAverageTest : public testing::Test {
 protected:
  WeightAverageTest() : ops_(CreateReferenceOps(ElementType::kF32)) {
    store_.AddParameter("a/scale", ParameterKind::kBatchNormScale, {3, 1, 1, 1}, 1);
    store_.AddStatistic("a/running_mean", StatisticKind::kRunningMean, 3);
    SHARDMILL_CHECK(store_.Allocate(ops_.get(), 1).ok());  // scales of 1, means of 0
  }

  WeightAverage Create(double decay) { return *WeightAverage::Create(decay, &store_); }
  void SetWeights(float value) {
    std::fill_n(store_.values(), 3, value);
    std::fill_n(store_.running_statistics(), 3, -value);
  }

  std::unique_ptr<OpTable> ops_;
  ParameterStore store_;
};

TEST_F(WeightAverageTest, FirstStepsCountMoreThanTheDecaySays) {
  WeightAverage average = Create(0.9);
  double expected = 1;
  for (int step = 1; step <= 200; ++step) {
    SetWeights(static_cast<float>(step));
    average.Update(step);
    expected += (1 - std::min(0.9, step / (step + 9.0))) * (step - expected);
    EXPECT_NEAR(average.parameters()[2], expected, 1e-5 * expected) << step;
  }
  // Long after the start: the mean age of what is in it is 0.9 / 0.1 steps.
  EXPECT_NEAR(average.parameters()[0], 200 - 9, 0.01);
  EXPECT_NEAR(average.statistics()[0], -(200 - 9), 0.01);
}

TEST_F(WeightAverageTest, SwapTwiceChangesNothing) {
  WeightAverage average = Create(0.5);
  SetWeights(5);
  average.Swap();
  EXPECT_EQ(store_.values()[0], 1);
  EXPECT_EQ(average.parameters()[0], 5);
  average.Swap();
  EXPECT_EQ(store_.values()[0], 5);
  EXPECT_EQ(store_.running_statistics()[0], -5);
  EXPECT_EQ(average.parameters()[0], 1);
}

TEST_F(WeightAverageTest, CheckpointRestoresItAndItsWeights) {
  WeightAverage average = Create(0.9);
  SetWeights(3);
  average.Update(1);
  const std::string path = testing::TempDir() + "/average.ckpt";
  ASSERT_TRUE(WriteCheckpoint(path, {}, average.Tensors()).ok());
  const auto checkpoint = LoadedCheckpoint::Read(path);
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_TRUE(HasWeightAverage(*checkpoint));
  WeightAverage other = Create(0.9);
  ASSERT_TRUE(other.Restore(*checkpoint).ok());
  EXPECT_EQ(other.parameters(), average.parameters());
  EXPECT_EQ(other.statistics(), average.statistics());
  ASSERT_TRUE(RestoreAverageAsWeights(*checkpoint, &store_).ok());
  EXPECT_EQ(store_.values()[1], average.parameters()[1]);
  ASSERT_TRUE(WriteCheckpoint(path, {}, {}).ok());
  EXPECT_FALSE(HasWeightAverage(*LoadedCheckpoint::Read(path)));
}

TEST_F(WeightAverageTest, DecayOutsideTheUnitIntervalIsInvalidArgument) {
  for (const double decay : {0.0, 1.0, -0.5}) {
    EXPECT_EQ(WeightAverage::Create(decay, &store_).status().code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace shardmill
