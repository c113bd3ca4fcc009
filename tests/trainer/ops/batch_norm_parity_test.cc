// Batch norm of a backend against the reference.
#include <gtest/gtest.h>

#include <string>

#include "tests/trainer/ops/backend_pair.h"
#include "tests/trainer/random_tensor.h"
#include "tests/trainer/tensor_near.h"

namespace shardmill {
namespace {

void ExpectEqualResults(const Shape& shape, Activation activation, const Floats& x) {
  const Floats scale = RandomTensor<float>(shape.c, 2, "scale");
  const Floats shift = RandomTensor<float>(shape.c, 2, "shift");
  const Floats dy = RandomTensor<float>(shape.Elements(), 2, "dy");
  BackendPair backends;
  const auto expected = backends.reference.BatchNorm(shape, activation, x, scale, shift, dy);
  const auto actual = backends.candidate.BatchNorm(shape, activation, x, scale, shift, dy);
  EXPECT_TRUE(TensorNear(actual.mean, expected.mean, kElementTolerance));
  EXPECT_TRUE(TensorNear(actual.variance, expected.variance, kNormTolerance));
  EXPECT_TRUE(TensorNear(actual.y, expected.y, kNormTolerance));
  // Sums of a term of size one per pixel.
  const Floats terms(shape.c, 1.0f + static_cast<float>(shape.Pixels()));
  EXPECT_TRUE(SumsNear(actual.dscale, expected.dscale, terms, kSumTolerance));
  EXPECT_TRUE(SumsNear(actual.dshift, expected.dshift, terms, kSumTolerance));
  EXPECT_TRUE(TensorNear(actual.dx, expected.dx, kNormTolerance));
}

class BatchNormParity : public testing::TestWithParam<Shape> {};

TEST_P(BatchNormParity, AgreesWithReference) {
  const Floats x = RandomTensor<float>(GetParam().Elements(), 2, "x");
  ExpectEqualResults(GetParam(), Activation::kNone, x);
  ExpectEqualResults(GetParam(), Activation::kRelu, x);
}

// Channels below, at and above a vector, odd ones, and sizes with several pieces.
INSTANTIATE_TEST_SUITE_P(
    Shapes, BatchNormParity,
    testing::Values(Shape{1, 3, 5, 1}, Shape{2, 33, 41, 3}, Shape{4, 31, 29, 8},
                    Shape{2, 17, 19, 12}, Shape{2, 40, 50, 16}, Shape{1, 7, 9, 37},
                    Shape{3, 5, 7, 64}, Shape{2, 3, 3, 100}, Shape{2, 2, 2, 1023}),
    [](const auto& info) { return "Channels" + std::to_string(info.param.c); });

TEST(BatchNormParity, LargeMeanKeepsTheVariance) {
  const Shape shape = {2, 64, 65, 8};
  Floats x = RandomTensor<float>(shape.Elements(), 3, "x");
  for (float& value : x) value = 1000 + 0.5f * value;
  BackendPair backends;
  const Floats ones(shape.c, 1.0f), zeros(shape.c, 0.0f);
  const auto expected = backends.reference.BatchNorm(shape, Activation::kNone, x, ones, zeros, x);
  const auto actual = backends.candidate.BatchNorm(shape, Activation::kNone, x, ones, zeros, x);
  // Mean of squares minus square of the mean would be wrong in the first digit.
  EXPECT_TRUE(TensorNear(actual.variance, expected.variance, kNormTolerance));
}

TEST(BatchNorm, ReluMasksOfForwardAndBackwardAgree) {
  // Backward computes the mask again: a value that forward rounded to zero must get no gradient.
  const Shape shape = {1, 8, 8, 3};
  const Floats x = RandomTensor<float>(shape.Elements(), 4, "x");
  const Floats ones(shape.c, 1.0f), zeros(shape.c, 0.0f), dy(shape.Elements(), 1.0f);
  BackendPair backends;
  const auto r = backends.candidate.BatchNorm(shape, Activation::kRelu, x, ones, zeros, dy);
  for (int64_t c = 0; c < shape.c; ++c) {
    int64_t passed = 0;
    for (int64_t i = c; i < shape.Elements(); i += shape.c) passed += r.y[i] > 0 ? 1 : 0;
    EXPECT_EQ(r.dshift[c], static_cast<float>(passed));
  }
}

TEST(BatchNormParity, RunningStatisticsFollowTheBatch) {
  BackendPair backends;
  const Floats mean = {1, -2}, variance = {4, 9};
  for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
    Floats running_mean = {0, 0}, running_variance = {1, 1};
    ASSERT_TRUE(runner->ops()
                    .BatchNormUpdateRunning(runner->stream(), 2, 5, 0.1, mean.data(),
                                            variance.data(), running_mean.data(),
                                            running_variance.data())
                    .ok());
    EXPECT_TRUE(TensorNear(running_mean, Floats{0.1f, -0.2f}, kElementTolerance));
    // 0.9 * 1 + 0.1 * variance * 5 / 4
    EXPECT_TRUE(TensorNear(running_variance, Floats{1.4f, 2.025f}, kElementTolerance));
  }
}

}  // namespace
}  // namespace shardmill
