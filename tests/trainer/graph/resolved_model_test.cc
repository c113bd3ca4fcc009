#include "trainer/graph/resolved_model.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "trainer/models/classifier.h"
#include "trainer/models/unet.h"

namespace shardmill {
namespace {

LayerSpec Convolution(const std::string& name, std::vector<std::string> inputs) {
  LayerSpec layer;
  layer.name = name;
  layer.inputs = std::move(inputs);
  layer.channels = 4;
  layer.window = SquareWindow(3, 1, 1);
  return layer;
}

ModelSpec Model(std::vector<LayerSpec> layers) {
  ModelSpec model;
  model.name = "tried";
  model.layers = std::move(layers);
  return model;
}

std::string ErrorOf(const ModelSpec& model) {
  ParameterStore store;
  const auto resolved = ResolveModel(model, &store);
  if (resolved.ok()) return "";
  EXPECT_EQ(resolved.status().code(), StatusCode::kInvalidArgument);
  return resolved.status().message();
}

TEST(ResolveModel, NumbersValuesAndCountsReaders) {
  ParameterStore store;
  const auto model = ResolveModel(
      Model({Convolution("a", {"images"}), Convolution("b", {"a"}), Convolution("c", {"b"})}),
      &store);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->values(), 4);
  EXPECT_EQ(model->layers[1].inputs, std::vector<int>{1});
  EXPECT_EQ(model->Consumers(0), 1);
  EXPECT_EQ(model->Consumers(3), 0);
  EXPECT_FALSE(model->ValueNeedsGradient(0));
  EXPECT_TRUE(model->ValueNeedsGradient(1));
}

TEST(ResolveModel, LayersBeforeTheFirstParametersNeedNoGradient) {
  LayerSpec pool = Convolution("pool", {"images"});
  pool.kind = LayerKind::kMaxPool;
  ParameterStore store;
  const auto model = ResolveModel(Model({pool, Convolution("a", {"pool"})}), &store);
  ASSERT_TRUE(model.ok());
  EXPECT_FALSE(model->ValueNeedsGradient(1));
  EXPECT_TRUE(model->ValueNeedsGradient(2));
}

TEST(ResolveModel, MistakesAreNamed) {
  const auto expect = [](const ModelSpec& model, const std::string& words) {
    const std::string error = ErrorOf(model);
    EXPECT_NE(error.find(words), std::string::npos) << error;
  };
  expect(Model({Convolution("a", {"b"})}), "layer \"a\" reads \"b\"");
  expect(Model({Convolution("a", {"images"}), Convolution("a", {"a"})}), "two values are named");
  expect(Model({Convolution("images", {"images"})}), "two values are named");
  expect(Model({Convolution("a", {"images"}), Convolution("b", {"images"})}), "nobody reads");
  expect(Model({Convolution("a", {})}), "0 inputs");
  expect(Model({Convolution("a", {"images", "images"})}), "2 inputs");
  expect(Model({}), "nothing to train");
  LayerSpec relu = Convolution("relu", {"images"});
  relu.kind = LayerKind::kRelu;
  expect(Model({relu}), "nothing to train");
  LayerSpec groups = Convolution("a", {"images"});
  groups.groups = 2;
  expect(Model({groups}), "2 groups must divide 3 input channels");
  LayerSpec large = Convolution("a", {"images"});
  for (const int64_t channels : {int64_t{4000000000}, std::numeric_limits<int64_t>::max()}) {
    large.channels = channels;
    expect(Model({large}), "layer \"a\" has " + std::to_string(channels) + " channels");
  }
  large.channels = 4;
  large.window.kernel_h = std::numeric_limits<int64_t>::max();
  expect(Model({large}), "has a window of 9223372036854775807 pixels");
}

TEST(UnetSpec, HasThePublishedShape) {
  UnetOptions options;
  options.classes = 12;
  ParameterStore store;
  const auto spec = UnetSpec(options);
  ASSERT_TRUE(spec.ok());
  const auto model = ResolveModel(*spec, &store);
  ASSERT_TRUE(model.ok()) << model.status().message();
  // 9 double convolutions of 4 layers, 4 pools, 4 transposed convolutions, 4 concats, the head.
  EXPECT_EQ(model->layers.size(), 49u);
  EXPECT_EQ(model->layers.back().channels, 12);
  EXPECT_EQ(store.trained_elements(), 486532);
  EXPECT_EQ(store.parameters().front().name, "down1/convolution1/weight");
}

TEST(UnetSpec, BadOptionsAreRefused) {
  UnetOptions options;
  EXPECT_FALSE(UnetSpec(options).ok());  // no classes
  options.classes = 2;
  EXPECT_TRUE(UnetSpec(options).ok());
  for (const int64_t depth : {0, 9, -1}) {
    UnetOptions wrong = options;
    wrong.depth = depth;
    EXPECT_FALSE(UnetSpec(wrong).ok()) << depth;
  }
  for (const int64_t width : {int64_t{0}, int64_t{-8}, int64_t{1} << 40}) {
    UnetOptions wrong = options;
    wrong.width = width;
    EXPECT_FALSE(UnetSpec(wrong).ok()) << width;
  }
}

TEST(ClassifierSpec, ResolvesAndRefusesBadOptions) {
  ClassifierOptions options;
  EXPECT_FALSE(ClassifierSpec(options).ok());
  options.classes = 10;
  const auto spec = ClassifierSpec(options);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(ErrorOf(*spec), "");
  options.stages = 0;
  EXPECT_FALSE(ClassifierSpec(options).ok());
}

}  // namespace
}  // namespace shardmill
