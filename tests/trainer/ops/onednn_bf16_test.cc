// oneDNN's convolutions of bf16 against the reference.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/trainer/ops/convolution_cases.h"
#include "trainer/ops/onednn/onednn_backend.h"

namespace shardmill {
namespace {

class OnednnBf16 : public testing::TestWithParam<ConvolutionCase> {};

TEST_P(OnednnBf16, AgreesWithReference) {
  auto ops = CreateOnednnOps(ConvolutionPrecision::kBf16);
  if (ops.status().code() == StatusCode::kUnavailable) GTEST_SKIP() << ops.status().message();
  ASSERT_TRUE(ops.ok()) << ops.status().ToString();
  OpRunner runner(std::move(ops).value());
  for (const bool bias : {false, true}) {
    ConvolutionShape shape = ShapeOf(GetParam(), bias);
    for (const Activation activation : {Activation::kNone, Activation::kRelu6}) {
      shape.activation = activation;
      ExpectConvolutionParity(shape, kBf16SumTolerance, &runner);
    }
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
  shape.activation = Activation::kRelu;
  shape.forward_only = true;
  const auto ended = runner.Convolution(shape, almost_one, middle, {}, almost_one);
  EXPECT_EQ(ended.y, Floats(almost_one.size(), 1.0f));
}

INSTANTIATE_TEST_SUITE_P(Cases, OnednnBf16, testing::ValuesIn(kConvolutionCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace shardmill
