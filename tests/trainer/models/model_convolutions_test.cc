#include "trainer/graph/model_convolutions.h"

#include <gtest/gtest.h>

#include "trainer/models/model_catalog.h"

namespace shardmill {
namespace {

TEST(ConvolutionsOf, ListsTheLayersWithTheirShapes) {
  const auto spec = BuildModel(*FindModel("resnet18"), {3, 1000, 0, 0});
  ASSERT_TRUE(spec.ok());
  const auto convolutions = ConvolutionsOf(*spec, {64, 224, 224, 3});
  ASSERT_TRUE(convolutions.ok()) << convolutions.status().ToString();
  // Seventeen of kernel 7 and 3, three shortcuts, the head.
  ASSERT_EQ(convolutions->size(), 21u);
  const ModelConvolution& first = convolutions->front();
  EXPECT_EQ(first.shape.input, (Shape{64, 224, 224, 3}));
  EXPECT_EQ(first.shape.Output(), (Shape{64, 112, 112, 64}));
  EXPECT_FALSE(first.needs_data_gradient);
  const ModelConvolution& head = convolutions->back();
  EXPECT_EQ(head.layer, "head");
  EXPECT_EQ(head.shape.input, (Shape{64, 1, 1, 512}));
  EXPECT_EQ(head.shape.out_channels, 1000);
  EXPECT_TRUE(head.shape.bias);
  EXPECT_TRUE(head.needs_data_gradient);
}

TEST(ConvolutionsOf, EvaluationFoldsBatchNormAndActivationIn) {
  const auto spec = BuildModel(*FindModel("resnet18"), {3, 1000, 0, 0});
  ASSERT_TRUE(spec.ok());
  for (const Phase phase : {Phase::kTraining, Phase::kEvaluation}) {
    const bool evaluates = phase == Phase::kEvaluation;
    const auto convolutions = ConvolutionsOf(*spec, {64, 224, 224, 3}, phase);
    ASSERT_TRUE(convolutions.ok()) << convolutions.status().ToString();
    ASSERT_EQ(convolutions->size(), 21u);
    const ConvolutionShape& first = convolutions->front().shape;
    EXPECT_EQ(first.forward_only, evaluates);
    EXPECT_EQ(first.bias, evaluates);
    EXPECT_EQ(first.activation, evaluates ? Activation::kRelu : Activation::kNone);
    EXPECT_EQ(convolutions->back().shape.activation, Activation::kNone);
  }
}

// At its end a classifier has few pixels and many weights.
TEST(ConvolutionsOf, EvaluationFoldsOnlyWhereWeightsAreFewerThanWhatTheyMake) {
  const auto spec = BuildModel(*FindModel("resnet18"), {3, 1000, 0, 0});
  ASSERT_TRUE(spec.ok());
  const auto convolutions = ConvolutionsOf(*spec, {1, 224, 224, 3}, Phase::kEvaluation);
  ASSERT_TRUE(convolutions.ok()) << convolutions.status().ToString();
  for (const ModelConvolution& convolution : *convolutions) {
    if (convolution.layer == "head") continue;
    const ConvolutionShape& shape = convolution.shape;
    const bool folded = shape.Output().Elements() > shape.WeightElements();
    EXPECT_EQ(shape.bias, folded) << convolution.layer;
    EXPECT_TRUE(folded || shape.activation == Activation::kNone) << convolution.layer;
  }
  EXPECT_TRUE(convolutions->front().shape.bias);
  EXPECT_FALSE(convolutions->at(convolutions->size() - 2).shape.bias);
}

TEST(ConvolutionsOf, ImagesThatAreTooSmallAreInvalidArgument) {
  const auto spec = BuildModel(*FindModel("unet"), {3, 12, 0, 0});
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(ConvolutionsOf(*spec, {1, 2, 2, 3}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
