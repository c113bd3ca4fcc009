// Convolutions of many kinds, and the comparison of a backend with the reference on one of them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "tests/trainer/ops/op_runner.h"
#include "tests/trainer/random_tensor.h"
#include "tests/trainer/tensor_near.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {

struct ConvolutionCase {
  const char* name;
  Shape input;
  int64_t channels;
  Window window;
  int64_t groups;
  bool transposed;
};

inline constexpr Window kUneven = {3, 2, 2, 1, 1, 0, 2, 1, 1, 2};

inline const ConvolutionCase kConvolutionCases[] = {
    {"FirstLayer", {2, 19, 23, 3}, 8, SquareWindow(3, 1, 1), 1, false},
    {"Narrow", {2, 17, 13, 8}, 8, SquareWindow(3, 1, 1), 1, false},
    {"Wide", {1, 9, 11, 32}, 48, SquareWindow(3, 1, 1), 1, false},
    {"OneByOne", {2, 9, 7, 8}, 12, SquareWindow(1, 1, 0), 1, false},
    {"OnePixel", {1, 1, 1, 16}, 5, SquareWindow(1, 1, 0), 1, false},
    {"Linear", {7, 1, 1, 33}, 10, SquareWindow(1, 1, 0), 1, false},
    {"ManyClasses", {3, 20, 26, 8}, 130, SquareWindow(1, 1, 0), 1, false},
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
    {"TransposedManyClasses", {2, 10, 13, 4}, 131, SquareWindow(2, 2, 0), 1, true},
    {"TransposedUneven", {2, 7, 6, 4}, 6, kUneven, 2, true},
};

inline Floats Absolute(Floats values) {
  for (float& value : values) value = std::abs(value);
  return values;
}

inline ConvolutionShape ShapeOf(const ConvolutionCase& c, bool bias) {
  ConvolutionShape shape;
  shape.input = c.input;
  shape.out_channels = c.channels;
  shape.window = c.window;
  shape.groups = c.groups;
  shape.transposed = c.transposed;
  shape.bias = bias;
  return shape;
}

inline void ExpectConvolutionParity(const ConvolutionShape& shape, double tolerance,
                                    OpRunner* runner) {
  ConvolutionShape without_end = shape;  // which would hide how large the terms are
  without_end.activation = Activation::kNone;
  const Floats x = RandomTensor<float>(shape.input.Elements(), 1, "x");
  const Floats weights = RandomTensor<float>(shape.WeightElements(), 1, "weights");
  const Floats biases = RandomTensor<float>(shape.out_channels, 1, "bias");
  const Floats dy = RandomTensor<float>(shape.Output().Elements(), 1, "dy");
  OpRunner reference(CreateReferenceOps(ElementType::kF32));
  const auto expected = reference.Convolution(shape, x, weights, biases, dy);
  const auto terms = reference.Convolution(without_end, Absolute(x), Absolute(weights),
                                           Absolute(biases), Absolute(dy));
  const auto actual = runner->Convolution(shape, x, weights, biases, dy);
  EXPECT_TRUE(SumsNear(actual.y, expected.y, terms.y, tolerance));
  EXPECT_TRUE(SumsNear(actual.dx, expected.dx, terms.dx, tolerance));
  EXPECT_TRUE(SumsNear(actual.dweights, expected.dweights, terms.dweights, tolerance));
  // The sum of dy has no products.
  EXPECT_TRUE(SumsNear(actual.dbias, expected.dbias, terms.dbias, kSumTolerance));
}

}  // namespace shardmill
