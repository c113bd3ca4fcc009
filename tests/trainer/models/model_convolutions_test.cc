#include "trainer/graph/model_convolutions.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

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
TEST(ConvolutionsOf, EvaluationFoldsOnlyWhereWeightsAreFewerThanWhatTheyMakeOfAnImage) {
  const auto spec = BuildModel(*FindModel("resnet18"), {3, 1000, 0, 0});
  ASSERT_TRUE(spec.ok());
  const auto convolutions = ConvolutionsOf(*spec, {64, 224, 224, 3}, Phase::kEvaluation);
  ASSERT_TRUE(convolutions.ok()) << convolutions.status().ToString();
  for (const ModelConvolution& convolution : *convolutions) {
    if (convolution.layer == "head") continue;
    const ConvolutionShape& shape = convolution.shape;
    const bool folded = shape.Output().Elements() / 64 > shape.WeightElements();
    EXPECT_EQ(shape.bias, folded) << convolution.layer;
    EXPECT_TRUE(folded || shape.activation == Activation::kNone) << convolution.layer;
  }
  EXPECT_TRUE(convolutions->front().shape.bias);
  EXPECT_FALSE(convolutions->at(convolutions->size() - 2).shape.bias);
}

// The layers whose batch norm, which no convolution of these models has beside a bias, is folded.
std::set<std::string> Folded(const ModelSpec& spec, const Shape& images) {
  const auto convolutions = ConvolutionsOf(spec, images, Phase::kEvaluation);
  EXPECT_TRUE(convolutions.ok()) << convolutions.status().ToString();
  std::set<std::string> layers;
  for (const ModelConvolution& convolution : *convolutions) {
    if (convolution.shape.bias) layers.insert(convolution.layer);
  }
  return layers;
}

// Else the last batch of an evaluation, or that of more ranks, would be rounded otherwise.
TEST(ConvolutionsOf, RowsOfABatchAndPaddingOfSequencesDecideNothing) {
  for (const char* const name : {"unet", "enet", "encoder_decoder", "resnet18", "classifier"}) {
    SCOPED_TRACE(name);
    const auto spec = BuildModel(*FindModel(name), {3, 12, 0, 0});
    ASSERT_TRUE(spec.ok());
    const auto of_one = Folded(*spec, {1, 64, 96, 3});
    EXPECT_GT(of_one.size(), 1u);
    EXPECT_LT(of_one.size(), ConvolutionsOf(*spec, {1, 64, 96, 3})->size());
    EXPECT_EQ(Folded(*spec, {3, 64, 96, 3}), of_one);
    EXPECT_EQ(Folded(*spec, {1000, 64, 96, 3}), of_one);
  }
  const auto spec = BuildModel(*FindModel("tdnn"), {24, 12, 0, 0});
  ASSERT_TRUE(spec.ok());
  const auto of_short = Folded(*spec, {1, 1, 1, 24});
  EXPECT_GT(of_short.size(), 1u);
  EXPECT_EQ(Folded(*spec, {1, 1, 20, 24}), of_short);
  EXPECT_EQ(Folded(*spec, {200, 1, 3000, 24}), of_short);
}

TEST(ConvolutionsOf, ImagesArePaddedWhereNothingButConvolutionsReadsThem) {
  const auto first_of = [](const char* model, int64_t channels, int64_t multiple) {
    const auto spec = BuildModel(*FindModel(model), {channels, 12, 0, 0});
    SHARDMILL_CHECK(spec.ok());
    const auto convolutions =
        ConvolutionsOf(*spec, {2, 64, 64, channels}, Phase::kTraining, multiple);
    SHARDMILL_CHECK(convolutions.ok());
    EXPECT_EQ((*convolutions)[1].shape.zero_channels, 0);
    return convolutions->front().shape;
  };
  ConvolutionShape first = first_of("unet", 3, 8);
  EXPECT_EQ(first.input, (Shape{2, 64, 64, 8}));
  EXPECT_EQ(first.zero_channels, 5);
  EXPECT_EQ(first.WeightElements(), first.out_channels * 3 * 3 * 3);
  EXPECT_TRUE(first.Check().ok());
  first = first_of("resnet18", 1, 4);
  EXPECT_EQ(first.input.c, 4);
  EXPECT_EQ(first.zero_channels, 3);
  EXPECT_EQ(first_of("unet", 8, 8).zero_channels, 0);
  EXPECT_EQ(first_of("unet", 3, 1).input.c, 3);
  // ENet begins with a pool of the images beside a convolution.
  EXPECT_EQ(first_of("enet", 3, 8).input.c, 3);
  EXPECT_EQ(first_of("enet", 3, 8).zero_channels, 0);
}

TEST(ConvolutionShape, PaddingInGroupsOrTransposedIsInvalidArgument) {
  ConvolutionShape shape = {{1, 8, 8, 8}, 8, SquareWindow(3, 1, 1)};
  shape.zero_channels = 4;
  EXPECT_TRUE(shape.Check().ok());
  ConvolutionShape wrong = shape;
  wrong.groups = 2;
  EXPECT_EQ(wrong.Check().code(), StatusCode::kInvalidArgument);
  wrong = shape;
  wrong.transposed = true;
  EXPECT_EQ(wrong.Check().code(), StatusCode::kInvalidArgument);
  for (const int64_t channels : {-1, 8, 9}) {
    wrong = shape;
    wrong.zero_channels = channels;
    EXPECT_EQ(wrong.Check().code(), StatusCode::kInvalidArgument) << channels;
  }
}

TEST(ConvolutionsOf, ImagesThatAreTooSmallAreInvalidArgument) {
  const auto spec = BuildModel(*FindModel("unet"), {3, 12, 0, 0});
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(ConvolutionsOf(*spec, {1, 2, 2, 3}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
