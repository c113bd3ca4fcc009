// oneDNN's convolutions against the reference, all three directions.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/trainer/ops/op_runner.h"
#include "tests/trainer/random_tensor.h"
#include "tests/trainer/tensor_near.h"

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

TEST_P(ConvolutionParity, OnednnAgreesWithReference) {
  const Case& c = GetParam();
  for (const bool bias : {false, true}) {
    ConvolutionShape shape;
    shape.input = c.input;
    shape.out_channels = c.channels;
    shape.window = c.window;
    shape.groups = c.groups;
    shape.transposed = c.transposed;
    shape.bias = bias;
    const Floats x = RandomTensor<float>(c.input.Elements(), 1, "x");
    const Floats weights = RandomTensor<float>(shape.WeightElements(), 1, "weights");
    const Floats biases = RandomTensor<float>(c.channels, 1, "bias");
    const Floats dy = RandomTensor<float>(shape.Output().Elements(), 1, "dy");

    BackendPair backends;
    const auto expected = backends.reference.Convolution(shape, x, weights, biases, dy);
    const auto terms = backends.reference.Convolution(shape, Absolute(x), Absolute(weights),
                                                      Absolute(biases), Absolute(dy));
    const auto actual = backends.onednn.Convolution(shape, x, weights, biases, dy);
    EXPECT_TRUE(SumsNear(actual.y, expected.y, terms.y, kSumTolerance));
    EXPECT_TRUE(SumsNear(actual.dx, expected.dx, terms.dx, kSumTolerance));
    EXPECT_TRUE(SumsNear(actual.dweights, expected.dweights, terms.dweights, kSumTolerance));
    EXPECT_TRUE(SumsNear(actual.dbias, expected.dbias, terms.dbias, kSumTolerance));
  }
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
