// Convolutions of a backend against the reference, all three directions.
#include <gtest/gtest.h>

#include <string>

#include "tests/trainer/ops/backend_pair.h"
#include "tests/trainer/ops/convolution_cases.h"

namespace shardmill {
namespace {

class ConvolutionParity : public testing::TestWithParam<ConvolutionCase> {};

TEST_P(ConvolutionParity, AgreesWithReference) {
  BackendPair backends;
  for (const bool bias : {false, true}) {
    ExpectConvolutionParity(ShapeOf(GetParam(), bias), kSumTolerance, &backends.candidate);
  }
}

TEST_P(ConvolutionParity, EndsInAnActivation) {
  BackendPair backends;
  for (const bool bias : {false, true}) {
    ConvolutionShape shape = ShapeOf(GetParam(), bias);
    shape.activation = bias ? Activation::kRelu6 : Activation::kRelu;
    ExpectConvolutionParity(shape, kSumTolerance, &backends.candidate);
  }
}

TEST_P(ConvolutionParity, ForwardAloneIsTheSame) {
  BackendPair backends;
  ConvolutionShape shape = ShapeOf(GetParam(), /*bias=*/true);
  shape.activation = Activation::kRelu;
  const Floats x = RandomTensor<float>(shape.input.Elements(), 1, "x");
  const Floats weights = RandomTensor<float>(shape.WeightElements(), 1, "weights");
  const Floats bias = RandomTensor<float>(shape.out_channels, 1, "bias");
  const Floats dy(shape.Output().Elements());
  const Floats whole = backends.candidate.Convolution(shape, x, weights, bias, dy).y;
  shape.forward_only = true;
  EXPECT_EQ(backends.candidate.Convolution(shape, x, weights, bias, dy).y, whole);
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvolutionParity, testing::ValuesIn(kConvolutionCases),
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
    for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
      const auto op = runner->ops().PrepareConvolution(wrong);
      ASSERT_FALSE(op.ok());
      EXPECT_EQ(op.status().code(), StatusCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace shardmill
