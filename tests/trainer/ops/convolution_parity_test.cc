// oneDNN's convolutions against the reference, all three directions.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "tests/trainer/ops/op_runner.h"
#include "tests/trainer/random_tensor.h"
#include "tests/trainer/tensor_near.h"
#include "trainer/ops/onednn/onednn_backend.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

struct Case {
  const char* name;
  Shape input;
  int64_t channels;
  Window window;
  int64_t groups;
  bool transposed;
};

constexpr Window kUneven = {3, 2, 2, 1, 1, 0, 2, 1, 1, 2};

const Case kCases[] = {
    {"FirstLayer", {2, 19, 23, 3}, 8, SquareWindow(3, 1, 1), 1, false},
    {"Narrow", {2, 17, 13, 8}, 8, SquareWindow(3, 1, 1), 1, false},
    {"Wide", {1, 9, 11, 32}, 48, SquareWindow(3, 1, 1), 1, false},
    {"OneByOne", {2, 9, 7, 8}, 12, SquareWindow(1, 1, 0), 1, false},
    {"OnePixel", {1, 1, 1, 16}, 5, SquareWindow(1, 1, 0), 1, false},
    {"Linear", {7, 1, 1, 33}, 10, SquareWindow(1, 1, 0), 1, false},
    {"Stride2", {2, 15, 18, 8}, 16, SquareWindow(3, 2, 1), 1, false},
    {"Dilation2", {1, 17, 19, 8}, 8, SquareWindow(3, 1, 2, 2), 1, false},
    {"Groups", {2, 9, 9, 16}, 32, SquareWindow(3, 1, 1), 4, false},
    {"GroupsOfOddSize", {1, 8, 7, 6}, 9, SquareWindow(3, 1, 1), 3, false},
    {"Depthwise", {2, 11, 9, 24}, 24, SquareWindow(3, 1, 1), 24, false},
    {"Uneven", {2, 12, 11, 4}, 6, kUneven, 2, false},
    {"TransposedDoubling", {2, 7, 9, 16}, 8, SquareWindow(2, 2, 0), 1, true},
    {"TransposedOnePixel", {1, 1, 1, 8}, 3, SquareWindow(2, 2, 0), 1, true},
    {"TransposedOverlapping", {1, 6, 5, 8}, 8, SquareWindow(4, 2, 1), 1, true},
    {"TransposedGroups", {2, 5, 6, 8}, 4, SquareWindow(3, 2, 1), 2, true},
    {"TransposedUneven", {2, 7, 6, 4}, 6, kUneven, 2, true},
};

Floats Absolute(Floats values) {
  for (float& value : values) value = std::abs(value);
  return values;
}

class ConvolutionParity : public testing::TestWithParam<Case> {};

ConvolutionShape ShapeOf(const Case& c, bool bias) {
  ConvolutionShape shape;
  shape.input = c.input;
  shape.out_channels = c.channels;
  shape.window = c.window;
  shape.groups = c.groups;
  shape.transposed = c.transposed;
  shape.bias = bias;
  return shape;
}

void ExpectParity(const ConvolutionShape& shape, double tolerance, OpRunner* runner) {
  const Floats x = RandomTensor<float>(shape.input.Elements(), 1, "x");
  const Floats weights = RandomTensor<float>(shape.WeightElements(), 1, "weights");
  const Floats biases = RandomTensor<float>(shape.out_channels, 1, "bias");
  const Floats dy = RandomTensor<float>(shape.Output().Elements(), 1, "dy");
  OpRunner reference(CreateReferenceOps(ElementType::kF32));
  const auto expected = reference.Convolution(shape, x, weights, biases, dy);
  const auto terms =
      reference.Convolution(shape, Absolute(x), Absolute(weights), Absolute(biases), Absolute(dy));
  const auto actual = runner->Convolution(shape, x, weights, biases, dy);
  EXPECT_TRUE(SumsNear(actual.y, expected.y, terms.y, tolerance));
  EXPECT_TRUE(SumsNear(actual.dx, expected.dx, terms.dx, tolerance));
  EXPECT_TRUE(SumsNear(actual.dweights, expected.dweights, terms.dweights, tolerance));
  // The sum of dy has no products.
  EXPECT_TRUE(SumsNear(actual.dbias, expected.dbias, terms.dbias, kSumTolerance));
}

TEST_P(ConvolutionParity, OnednnAgreesWithReference) {
  BackendPair backends;
  for (const bool bias : {false, true}) {
    ExpectParity(ShapeOf(GetParam(), bias), kSumTolerance, &backends.onednn);
  }
}

TEST_P(ConvolutionParity, Bf16AgreesWithReference) {
  auto ops = CreateOnednnOps(ConvolutionPrecision::kBf16);
  if (ops.status().code() == StatusCode::kUnavailable) GTEST_SKIP() << ops.status().message();
  ASSERT_TRUE(ops.ok()) << ops.status().ToString();
  OpRunner runner(std::move(ops).value());
  for (const bool bias : {false, true}) {
    ExpectParity(ShapeOf(GetParam(), bias), kBf16SumTolerance, &runner);
  }
}

// A backend that quietly stays in f32 would pass the test above.
TEST(Bf16, FactorsAreRoundedInAllDirections) {
  auto ops = CreateOnednnOps(ConvolutionPrecision::kBf16);
  if (ops.status().code() == StatusCode::kUnavailable) GTEST_SKIP() << ops.status().message();
  OpRunner runner(std::move(ops).value());
  ConvolutionShape shape;
  shape.input = {1, 8, 8, 32};
  shape.out_channels = 32;
  shape.window = SquareWindow(3, 1, 1);
  // 1 + 2^-9 is no bf16: it becomes 1.
  const Floats almost_one(shape.input.Elements(), 1 + 0x1p-9f);
  Floats middle(shape.WeightElements(), 0.0f);  // the centre of each kernel is the identity
  for (int64_t c = 0; c < 32; ++c) middle[(c * 9 + 4) * 32 + c] = 1;
  const auto results = runner.Convolution(shape, almost_one, middle, {}, almost_one);
  EXPECT_EQ(results.y, Floats(almost_one.size(), 1.0f));
  EXPECT_EQ(results.dx, Floats(almost_one.size(), 1.0f));
  EXPECT_EQ(results.dweights[4 * 32], 64.0f);
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvolutionParity, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ConvolutionShape, BadNumbersAreRefused) {
  BackendPair backends;
  ConvolutionShape shape;
  shape.input = {1, 4, 4, 6};
  shape.out_channels = 4;
  shape.window = SquareWindow(3, 1, 1);
  EXPECT_TRUE(shape.Check().ok());

  ConvolutionShape groups = shape;
  groups.groups = 4;
  ConvolutionShape large_kernel = shape;
  large_kernel.window = SquareWindow(5, 1, 0);
  ConvolutionShape no_stride = shape;
  no_stride.window.stride_h = 0;
  ConvolutionShape empty = shape;
  empty.input.n = 0;
  ConvolutionShape huge = shape;
  huge.input = {1 << 20, 1 << 20, 1 << 20, 1 << 20};
  for (const ConvolutionShape& wrong : {groups, large_kernel, no_stride, empty, huge}) {
    for (OpRunner* runner : {&backends.reference, &backends.onednn}) {
      const auto op = runner->ops().PrepareConvolution(wrong);
      ASSERT_FALSE(op.ok());
      EXPECT_EQ(op.status().code(), StatusCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace shardmill
