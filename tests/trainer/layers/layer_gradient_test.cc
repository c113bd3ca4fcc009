// Every layer against central differences, in double on the reference backend.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/trainer/gradient_check.h"
#include "trainer/ops/reference/reference_backend.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {
namespace {

LayerSpec Convolution(int64_t channels, const Window& window, int64_t groups, bool bias) {
  LayerSpec spec;
  spec.name = "layer";
  spec.channels = channels;
  spec.window = window;
  spec.groups = groups;
  spec.bias = bias;
  return spec;
}

LayerSpec Simple(LayerKind kind) {
  LayerSpec spec;
  spec.name = "layer";
  spec.kind = kind;
  return spec;
}

std::string Check(const LayerSpec& spec, const std::vector<Shape>& inputs,
                  GradientMode mode = GradientMode::kOverwrite) {
  ReferenceOps ops(ElementType::kF64);
  LayerCheckOptions options;
  options.mode = mode;
  return CheckLayerGradients(spec, inputs, &ops, options);
}

struct ConvolutionCase {
  const char* name;
  Shape input;
  int64_t channels;
  Window window;
  int64_t groups;
};

// Kernel, stride, padding, dilation unlike in the two directions.
constexpr Window kUneven = {3, 2, 2, 1, 1, 0, 2, 1, 1, 2};

const ConvolutionCase kConvolutionCases[] = {
    {"Plain3x3", {2, 5, 7, 3}, 4, SquareWindow(3, 1, 1), 1},
    {"OneImageOnePixel", {1, 1, 1, 3}, 2, SquareWindow(1, 1, 0), 1},
    {"Stride2OddSize", {1, 7, 5, 2}, 3, SquareWindow(3, 2, 1), 1},
    {"Dilation2", {1, 9, 8, 2}, 2, SquareWindow(3, 1, 2, 2), 1},
    {"Groups", {2, 5, 4, 4}, 6, SquareWindow(3, 1, 1), 2},
    {"Depthwise", {1, 6, 5, 3}, 3, SquareWindow(3, 1, 1), 3},
    {"NoPadding5x5", {1, 7, 6, 2}, 2, SquareWindow(5, 1, 0), 1},
    {"UnevenWindow", {2, 8, 7, 4}, 2, kUneven, 2},
    {"RowsLeftOver", {1, 8, 8, 2}, 2, SquareWindow(3, 3, 0), 1},
};

class ConvolutionGradient : public testing::TestWithParam<ConvolutionCase> {};

TEST_P(ConvolutionGradient, AgreesWithDifferences) {
  const ConvolutionCase& c = GetParam();
  EXPECT_EQ(Check(Convolution(c.channels, c.window, c.groups, false), {c.input}), "");
  EXPECT_EQ(Check(Convolution(c.channels, c.window, c.groups, true), {c.input}), "");
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvolutionGradient, testing::ValuesIn(kConvolutionCases),
                         [](const auto& info) { return std::string(info.param.name); });

const ConvolutionCase kTransposedCases[] = {
    {"Doubling", {2, 3, 5, 3}, 2, SquareWindow(2, 2, 0), 1},
    {"OneImageOnePixel", {1, 1, 1, 3}, 2, SquareWindow(2, 2, 0), 1},
    {"Overlapping4x4", {1, 3, 4, 2}, 3, SquareWindow(4, 2, 1), 1},
    {"Groups", {2, 3, 3, 4}, 2, SquareWindow(3, 2, 1), 2},
    {"Dilation2", {1, 4, 3, 2}, 2, SquareWindow(3, 1, 2, 2), 1},
    {"UnevenWindow", {2, 5, 4, 4}, 2, kUneven, 2},
};

class TransposedConvolutionGradient : public testing::TestWithParam<ConvolutionCase> {};

TEST_P(TransposedConvolutionGradient, AgreesWithDifferences) {
  const ConvolutionCase& c = GetParam();
  LayerSpec spec = Convolution(c.channels, c.window, c.groups, false);
  spec.kind = LayerKind::kTransposedConvolution;
  EXPECT_EQ(Check(spec, {c.input}), "");
  spec.bias = true;
  EXPECT_EQ(Check(spec, {c.input}), "");
}

INSTANTIATE_TEST_SUITE_P(Cases, TransposedConvolutionGradient, testing::ValuesIn(kTransposedCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BatchNormGradient, AgreesWithDifferences) {
  LayerSpec spec = Simple(LayerKind::kBatchNorm);
  for (const Shape& shape : {Shape{2, 3, 5, 3}, Shape{1, 7, 3, 1}, Shape{5, 1, 1, 4}}) {
    spec.activation = Activation::kNone;
    EXPECT_EQ(Check(spec, {shape}), "") << ShapeText(shape);
    spec.activation = Activation::kRelu;
    EXPECT_EQ(Check(spec, {shape}), "") << ShapeText(shape);
    spec.activation = Activation::kRelu6;
    EXPECT_EQ(Check(spec, {shape}), "") << ShapeText(shape);
  }
}

TEST(ReluGradient, AgreesWithDifferences) {
  EXPECT_EQ(Check(Simple(LayerKind::kRelu), {{1, 3, 5, 2}}), "");
}

TEST(Relu6Gradient, AgreesWithDifferences) {
  LayerSpec spec = Simple(LayerKind::kRelu);
  spec.activation = Activation::kRelu6;
  EXPECT_EQ(Check(spec, {{1, 3, 5, 2}}), "");
}

TEST(PreluGradient, AgreesWithDifferences) {
  EXPECT_EQ(Check(Simple(LayerKind::kPrelu), {{2, 3, 5, 3}}), "");
  EXPECT_EQ(Check(Simple(LayerKind::kPrelu), {{1, 1, 1, 1}}), "");
}

TEST(DropoutGradient, AgreesWithDifferences) {
  LayerSpec spec = Simple(LayerKind::kDropout);
  spec.drop = 0.4;
  EXPECT_EQ(Check(spec, {{2, 3, 5, 3}}), "");
  spec.whole_channels = true;
  EXPECT_EQ(Check(spec, {{2, 3, 5, 3}}), "");
}

TEST(UpsampleGradient, AgreesWithDifferences) {
  LayerSpec spec = Simple(LayerKind::kUpsample);
  for (const UpsampleMode upsample : {UpsampleMode::kNearest, UpsampleMode::kBilinear}) {
    spec.upsample_mode = upsample;
    for (const GradientMode mode : {GradientMode::kOverwrite, GradientMode::kAdd}) {
      spec.factor = 2;
      EXPECT_EQ(Check(spec, {{2, 3, 5, 2}}, mode), "");
      spec.factor = 3;
      EXPECT_EQ(Check(spec, {{1, 1, 2, 3}}, mode), "");
    }
  }
}

TEST(StatisticsPoolGradient, AgreesWithDifferences) {
  for (const GradientMode mode : {GradientMode::kOverwrite, GradientMode::kAdd}) {
    EXPECT_EQ(Check(Simple(LayerKind::kStatisticsPool), {{2, 1, 7, 3}}, mode), "");
  }
}

TEST(AddGradient, AgreesWithDifferences) {
  const std::vector<std::vector<Shape>> cases = {
      {{2, 3, 5, 3}, {2, 3, 5, 3}},
      {{1, 5, 7, 4}, {1, 4, 6, 4}, {1, 6, 9, 2}},  // padded; cropped, with fewer channels
      {{1, 2, 2, 1}},
  };
  LayerSpec spec = Simple(LayerKind::kAdd);
  for (const std::vector<Shape>& shapes : cases) {
    for (const GradientMode mode : {GradientMode::kOverwrite, GradientMode::kAdd}) {
      for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
        spec.activation = activation;
        EXPECT_EQ(Check(spec, shapes, mode), "") << ShapeText(shapes.back());
      }
    }
  }
}

TEST(AveragePoolGradient, AgreesWithDifferences) {
  LayerSpec spec = Simple(LayerKind::kAveragePool);
  for (const Window& window : {SquareWindow(2, 2, 0), SquareWindow(3, 2, 1), SquareWindow(3, 1, 1),
                               Window{2, 3, 3, 1, 1, 0, 0, 2, 1, 1}}) {
    spec.window = window;
    for (const GradientMode mode : {GradientMode::kOverwrite, GradientMode::kAdd}) {
      EXPECT_EQ(Check(spec, {{2, 7, 5, 3}}, mode), "") << window.kernel_h << window.stride_h;
    }
  }
}

TEST(MaxPoolGradient, AgreesWithDifferences) {
  LayerSpec spec = Simple(LayerKind::kMaxPool);
  for (const Window& window : {SquareWindow(2, 2, 0), SquareWindow(3, 2, 1), SquareWindow(3, 1, 1),
                               Window{2, 3, 3, 1, 1, 0, 0, 2, 1, 1}}) {
    spec.window = window;
    for (const GradientMode mode : {GradientMode::kOverwrite, GradientMode::kAdd}) {
      EXPECT_EQ(Check(spec, {{2, 7, 5, 3}}, mode), "") << window.kernel_h << window.stride_h;
      EXPECT_EQ(Check(spec, {{1, 3, 3, 1}}, mode), "") << window.kernel_h << window.stride_h;
    }
  }
}

TEST(GlobalAveragePoolGradient, AgreesWithDifferences) {
  for (const GradientMode mode : {GradientMode::kOverwrite, GradientMode::kAdd}) {
    EXPECT_EQ(Check(Simple(LayerKind::kGlobalAveragePool), {{2, 3, 5, 4}}, mode), "");
    EXPECT_EQ(Check(Simple(LayerKind::kGlobalAveragePool), {{1, 1, 1, 1}}, mode), "");
  }
}

TEST(ConcatGradient, AgreesWithDifferences) {
  const std::vector<std::vector<Shape>> cases = {
      {{2, 4, 4, 3}, {2, 4, 4, 2}},
      {{1, 5, 7, 2}, {1, 4, 6, 3}},  // the second is padded
      {{1, 3, 4, 2}, {1, 4, 6, 1}},  // the second is cropped
      {{1, 5, 3, 1}, {1, 4, 4, 2}, {1, 5, 3, 3}},
      {{1, 2, 2, 1}},
  };
  for (const std::vector<Shape>& shapes : cases) {
    for (const GradientMode mode : {GradientMode::kOverwrite, GradientMode::kAdd}) {
      EXPECT_EQ(Check(Simple(LayerKind::kConcat), shapes, mode), "") << ShapeText(shapes.back());
    }
  }
}

// Backward code with one mistake each: the checker must notice.
class ForgottenMeanTerm : public ReferenceOps {
 public:
  ForgottenMeanTerm() : ReferenceOps(ElementType::kF64) {}
  Status BatchNormBackwardData(Stream& stream, const BatchNormCall& norm, const BatchNormSums& sums,
                               const void* y, const void* dy, void* dx) override {
    const std::vector<double> zero(norm.shape.c, 0.0);
    const BatchNormSums wrong = {sums.dscale, zero.data(), sums.pixels};
    return ReferenceOps::BatchNormBackwardData(stream, norm, wrong, y, dy, dx);
  }
};

class ForgottenMask : public ReferenceOps {
 public:
  ForgottenMask() : ReferenceOps(ElementType::kF64) {}
  Status ActivationBackward(Stream& stream, Activation activation, int64_t elements, const void*,
                            const void* dy, void* dx) override {
    return ReferenceOps::ActivationBackward(stream, activation, elements, dy, dy, dx);
  }
};

class OverwritesInsteadOfAdding : public ReferenceOps {
 public:
  OverwritesInsteadOfAdding() : ReferenceOps(ElementType::kF64) {}
  Status MaxPoolBackward(Stream& stream, const PoolShape& shape, const void* dy,
                         const uint8_t* indices, GradientMode, void* dx) override {
    return ReferenceOps::MaxPoolBackward(stream, shape, dy, indices, GradientMode::kOverwrite, dx);
  }
};

class OnePercentOff : public ReferenceOps {
 public:
  OnePercentOff() : ReferenceOps(ElementType::kF64) {}
  Status ConcatBackward(Stream& stream, const Shape& whole, const ConcatPart* parts, int count,
                        const void* dy) override {
    RETURN_IF_ERROR(ReferenceOps::ConcatBackward(stream, whole, parts, count, dy));
    for (int64_t i = 0; i < parts[0].shape.Elements(); ++i) {
      static_cast<double*>(parts[0].dx)[i] *= 1.01;
    }
    return OkStatus();
  }
};

TEST(GradientCheck, FindsWrongBackwardCode) {
  ForgottenMeanTerm norm;
  EXPECT_NE(CheckLayerGradients(Simple(LayerKind::kBatchNorm), {{2, 3, 5, 3}}, &norm), "");
  ForgottenMask relu;
  EXPECT_NE(CheckLayerGradients(Simple(LayerKind::kRelu), {{1, 3, 5, 2}}, &relu), "");
  OverwritesInsteadOfAdding pool;
  LayerSpec pooling = Simple(LayerKind::kMaxPool);
  pooling.window = SquareWindow(2, 2, 0);
  LayerCheckOptions add;
  add.mode = GradientMode::kAdd;
  EXPECT_NE(CheckLayerGradients(pooling, {{1, 4, 4, 2}}, &pool, add), "");
  OnePercentOff concat;
  EXPECT_NE(CheckLayerGradients(Simple(LayerKind::kConcat), {{1, 4, 4, 2}}, &concat), "");
}

}  // namespace
}  // namespace shardmill
