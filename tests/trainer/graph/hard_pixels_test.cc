#include "trainer/graph/hard_pixels.h"

#include <gtest/gtest.h>

#include <limits>

#include "trainer/ops/op_table.h"

namespace shardmill {
namespace {

// 100 pixels: 10 with probabilities in the first bin, 40 in bin 512 (just above 1/2), 50 in the
// last.
std::vector<double> Counts() {
  std::vector<double> counts(kProbabilityBins, 0);
  counts[0] = 10;
  counts[512] = 40;
  counts.back() = 50;
  return counts;
}

LossOptions Options(double probability, double share) {
  LossOptions options;
  options.hard_probability = probability;
  options.hard_share = share;
  return options;
}

TEST(HardPixels, ProbabilityDecidesWhereEnoughAreBelow) {
  EXPECT_EQ(ProbabilityLimitOf(Counts(), Options(0.7, 0.3)), 0.7);
  EXPECT_EQ(ProbabilityLimitOf(Counts(), Options(0.7, 0)), 0.7);
}

TEST(HardPixels, LeastShareRaisesTheLimitToTheEndOfABin) {
  EXPECT_EQ(ProbabilityLimitOf(Counts(), Options(0.2, 0.3)), 513.0 / 1024);
  EXPECT_EQ(ProbabilityLimitOf(Counts(), Options(0.2, 0.1)), 0.2);
  EXPECT_EQ(ProbabilityLimitOf(Counts(), Options(0.0001, 0.1)), 1.0 / 1024);
  EXPECT_GT(ProbabilityLimitOf(Counts(), Options(0.2, 0.6)), 1);  // those of exactly 1 too
}

TEST(HardPixels, NoPixelsKeepTheProbability) {
  const std::vector<double> none(kProbabilityBins, 0);
  EXPECT_EQ(ProbabilityLimitOf(none, Options(0.7, 0.5)), 0.7);
}

TEST(LossTerms, BadNumbersAreInvalidArgument) {
  const auto code_with = [](auto change) {
    LossOptions options;
    change(&options);
    return CheckLossTerms(options).code();
  };
  using O = LossOptions*;
  EXPECT_EQ(code_with([](O) {}), StatusCode::kOk);
  EXPECT_EQ(code_with([](O o) { o->cross_entropy = 0; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->dice = -1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->label_smoothing = 1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->hard_share = 1.5; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->hard_probability = std::numeric_limits<double>::quiet_NaN(); }),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
