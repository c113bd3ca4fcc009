#include "trainer/cuda/dnn/convolution_problem.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

using Four = std::array<int64_t, 4>;
using Two = std::array<int64_t, 2>;

ConvolutionShape Example(bool transposed) {
  ConvolutionShape shape;
  shape.input = {2, 9, 12, 8};
  shape.out_channels = 4;
  shape.window = SquareWindow(3, 2, 1);
  shape.transposed = transposed;
  return shape;
}

ConvolutionDirection DirectionOf(const ConvolutionShape& shape, ConvolutionPass pass) {
  return ProblemOf(shape, pass, MathMode::kF32, false).direction;
}

TEST(ConvolutionProblem, PassesOfATransposedConvolutionAreThoseOfItsAdjoint) {
  const ConvolutionShape plain = Example(false), transposed = Example(true);
  EXPECT_EQ(DirectionOf(plain, ConvolutionPass::kForward), ConvolutionDirection::kToSmall);
  EXPECT_EQ(DirectionOf(plain, ConvolutionPass::kBackwardData), ConvolutionDirection::kToLarge);
  EXPECT_EQ(DirectionOf(transposed, ConvolutionPass::kForward), ConvolutionDirection::kToLarge);
  EXPECT_EQ(DirectionOf(transposed, ConvolutionPass::kBackwardData),
            ConvolutionDirection::kToSmall);
  EXPECT_EQ(DirectionOf(plain, ConvolutionPass::kBackwardWeights), ConvolutionDirection::kWeights);
  EXPECT_EQ(DirectionOf(transposed, ConvolutionPass::kBackwardWeights),
            ConvolutionDirection::kWeights);

  const auto problem = ProblemOf(transposed, ConvolutionPass::kForward, MathMode::kF32, false);
  EXPECT_EQ(problem.large, (Shape{2, 17, 23, 4}));
  EXPECT_EQ(problem.small, (Shape{2, 9, 12, 8}));
  EXPECT_EQ(problem.WeightElements(), 8 * 3 * 3 * 4);
}

TEST(ConvolutionProblem, TensorsAreDenseNhwcInTheOrderOfCudnn) {
  ConvolutionShape shape = Example(false);
  shape.groups = 2;
  const auto problem = ProblemOf(shape, ConvolutionPass::kForward, MathMode::kBf16, false);
  const ConvolutionTensors tensors = TensorsOf(problem);
  EXPECT_EQ(tensors.large.sizes, (Four{2, 8, 9, 12}));
  EXPECT_EQ(tensors.large.strides, (Four{9 * 12 * 8, 1, 12 * 8, 8}));
  EXPECT_EQ(tensors.small.sizes, (Four{2, 4, 5, 6}));
  EXPECT_EQ(tensors.weights.sizes, (Four{4, 4, 3, 3}));
  EXPECT_EQ(tensors.weights.strides, (Four{3 * 3 * 4, 1, 3 * 4, 4}));
  EXPECT_EQ(tensors.bias.sizes, (Four{1, 4, 1, 1}));
  EXPECT_EQ(tensors.large.type, DnnType::kBf16);
  EXPECT_EQ(tensors.weights.type, DnnType::kBf16);
}

TEST(ConvolutionProblem, WeightGradientsOfBf16AreWantedInF32) {
  ConvolutionProblem problem =
      ProblemOf(Example(false), ConvolutionPass::kBackwardWeights, MathMode::kBf16, false);
  EXPECT_EQ(TensorsOf(problem).weights.type, DnnType::kF32);
  EXPECT_EQ(TensorsOf(problem).large.type, DnnType::kBf16);
  EXPECT_EQ(TensorsOf(problem).small.type, DnnType::kBf16);
  const std::string wide = ProblemText(problem);
  problem.wide_gradient = false;
  EXPECT_EQ(TensorsOf(problem).weights.type, DnnType::kBf16);
  EXPECT_EQ(ProblemText(problem) + ":gradient_f32", wide);
  for (const ConvolutionPass pass : {ConvolutionPass::kForward, ConvolutionPass::kBackwardData}) {
    EXPECT_FALSE(ProblemOf(Example(false), pass, MathMode::kBf16, false).wide_gradient);
  }
  EXPECT_FALSE(ProblemOf(Example(false), ConvolutionPass::kBackwardWeights, MathMode::kTf32, false)
                   .wide_gradient);
}

TEST(ConvolutionProblem, PaddedImagesHaveWeightsForTheirZeros) {
  ConvolutionShape shape = Example(false);
  shape.zero_channels = 5;
  const auto problem = ProblemOf(shape, ConvolutionPass::kForward, MathMode::kBf16, false);
  EXPECT_EQ(TensorsOf(problem).weights.sizes, (Four{4, 8, 3, 3}));
  EXPECT_EQ(problem.WeightElements(), 4 * 3 * 3 * 8);
  EXPECT_EQ(shape.WeightElements(), 4 * 3 * 3 * 3);
  EXPECT_EQ(ImageChannelMultiple(MathMode::kBf16), 8);
  EXPECT_EQ(ImageChannelMultiple(MathMode::kTf32), 4);
  EXPECT_EQ(ImageChannelMultiple(MathMode::kF32), 1);
}

TEST(ConvolutionProblem, PaddingBehindIsThatInFrontWhereTheWindowsAreTheSame) {
  ConvolutionShape shape = Example(false);
  shape.input = {1, 8, 8, 4};
  shape.window = SquareWindow(3, 2, 0);
  shape.window.pad_bottom = shape.window.pad_right = 1;  // 4 windows; none without it
  auto tensors = TensorsOf(ProblemOf(shape, ConvolutionPass::kForward, MathMode::kF32, false));
  EXPECT_EQ(tensors.pad_before, (Two{0, 0}));
  EXPECT_EQ(tensors.pad_behind, (Two{1, 1}));
  // Nine rows: the fourth window ends with the last one, and the padding is not read.
  shape.input = {1, 9, 8, 4};
  tensors = TensorsOf(ProblemOf(shape, ConvolutionPass::kForward, MathMode::kF32, false));
  EXPECT_EQ(tensors.pad_behind, (Two{0, 1}));
}

TEST(ConvolutionProblem, TextTellsApartWhatNeedsAPlanOfItsOwn) {
  const auto text = [](const ConvolutionShape& shape, MathMode math, bool deterministic) {
    return ProblemText(ProblemOf(shape, ConvolutionPass::kForward, math, deterministic));
  };
  const ConvolutionShape shape = Example(false);
  EXPECT_EQ(text(shape, MathMode::kTf32, true),
            "to_small:tf32:nhwc:large2x9x12x8:small2x5x6x4:kernel3x3:stride2x2:dilation1x1:"
            "before1x1:behind1x1:groups1:deterministic");
  EXPECT_NE(text(shape, MathMode::kTf32, true), text(shape, MathMode::kTf32, false));
  EXPECT_NE(text(shape, MathMode::kTf32, true), text(shape, MathMode::kBf16, true));
  ConvolutionShape other = shape;
  other.groups = 4;
  EXPECT_NE(text(shape, MathMode::kF32, false), text(other, MathMode::kF32, false));
  ConvolutionProblem fused = ProblemOf(shape, ConvolutionPass::kForward, MathMode::kF32, false);
  const std::string plain = ProblemText(fused);
  fused.bias = true;
  const std::string biased = ProblemText(fused);
  fused.activation = Activation::kRelu6;
  EXPECT_NE(plain, biased);
  EXPECT_NE(biased, ProblemText(fused));
}

}  // namespace
}  // namespace shardmill
