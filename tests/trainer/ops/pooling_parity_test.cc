// Pooling, concatenation and the small operations of a backend against the reference.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/trainer/ops/backend_pair.h"
#include "tests/trainer/random_tensor.h"
#include "tests/trainer/tensor_near.h"

namespace shardmill {
namespace {

const GradientMode kModes[] = {GradientMode::kOverwrite, GradientMode::kAdd};

struct PoolCase {
  const char* name;
  Shape input;
  Window window;
};

const PoolCase kPoolCases[] = {
    {"Halving", {2, 8, 12, 8}, SquareWindow(2, 2, 0)},
    {"HalvingOddSize", {2, 9, 11, 8}, SquareWindow(2, 2, 0)},
    {"ThreeChannels", {1, 6, 7, 3}, SquareWindow(2, 2, 0)},
    {"ManyChannels", {1, 5, 6, 45}, SquareWindow(2, 2, 0)},
    {"Overlapping", {3, 9, 8, 5}, SquareWindow(3, 2, 1)},
    {"OverlappingStride1", {2, 5, 6, 4}, SquareWindow(3, 1, 1)},
    {"Gaps", {1, 11, 10, 4}, SquareWindow(2, 3, 0)},
    {"WholeImage", {2, 3, 4, 2}, {3, 4, 1, 1, 0, 0, 0, 0, 1, 1}},
    {"PaddingOnly", {1, 2, 2, 2}, SquareWindow(5, 1, 2)},
    {"OnePixel", {1, 1, 1, 1}, SquareWindow(1, 1, 0)},
};

class MaxPoolParity : public testing::TestWithParam<PoolCase> {};

TEST_P(MaxPoolParity, AgreesWithReference) {
  const PoolShape shape = {GetParam().input, GetParam().window};
  ASSERT_TRUE(shape.Check().ok()) << shape.Check().message();
  // Few different values, so that many maxima are ties.
  const Floats x = RandomIntegers<float>(shape.input.Elements(), 5, 1, "x");
  const Floats dy = RandomTensor<float>(shape.Output().Elements(), 1, "dy");
  const Floats before = RandomTensor<float>(shape.input.Elements(), 1, "dx");
  BackendPair backends;
  for (const GradientMode mode : kModes) {
    const auto expected = backends.reference.MaxPool(shape, x, dy, mode, before);
    const auto actual = backends.candidate.MaxPool(shape, x, dy, mode, before);
    EXPECT_EQ(actual.y, expected.y);
    EXPECT_EQ(actual.indices, expected.indices);
    EXPECT_TRUE(TensorNear(actual.dx, expected.dx, kElementTolerance));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, MaxPoolParity, testing::ValuesIn(kPoolCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PoolShape, BadNumbersAreRefused) {
  const Shape input = {1, 8, 8, 2};
  EXPECT_FALSE((PoolShape{input, SquareWindow(16, 16, 4)}).Check().ok());
  EXPECT_FALSE((PoolShape{input, SquareWindow(2, 2, 2)}).Check().ok());
  EXPECT_FALSE((PoolShape{input, SquareWindow(2, 2, 0, 2)}).Check().ok());
  EXPECT_FALSE((PoolShape{{1, 1, 1, 2}, SquareWindow(2, 2, 0)}).Check().ok());
  EXPECT_TRUE((PoolShape{input, SquareWindow(2, 2, 0)}).Check().ok());
}

TEST(GlobalAveragePoolParity, AgreesWithReference) {
  BackendPair backends;
  for (const Shape& shape : {Shape{3, 5, 7, 9}, Shape{1, 1, 1, 1}, Shape{2, 31, 30, 16}}) {
    const Floats x = RandomTensor<float>(shape.Elements(), 1, "x");
    const Floats dy = RandomTensor<float>(shape.n * shape.c, 1, "dy");
    for (const GradientMode mode : kModes) {
      std::vector<Floats> results;
      for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
        Floats y(dy.size()), dx = x;
        ASSERT_TRUE(runner->ops()
                        .GlobalAveragePoolForward(runner->stream(), shape, x.data(), y.data())
                        .ok());
        ASSERT_TRUE(
            runner->ops()
                .GlobalAveragePoolBackward(runner->stream(), shape, dy.data(), mode, dx.data())
                .ok());
        results.push_back(y);
        results.push_back(dx);
      }
      EXPECT_TRUE(TensorNear(results[2], results[0], kElementTolerance));
      EXPECT_TRUE(TensorNear(results[3], results[1], kElementTolerance));
    }
  }
}

TEST(ConcatParity, AgreesWithReference) {
  const std::vector<std::vector<Shape>> cases = {
      {{2, 6, 5, 8}, {2, 6, 5, 8}},
      {{2, 6, 5, 3}, {2, 6, 5, 4}},
      {{1, 5, 7, 4}, {1, 4, 6, 5}},                  // the second is padded
      {{1, 4, 6, 7}, {1, 5, 7, 20}, {1, 9, 3, 14}},  // cropped; cropped and padded
      {{1, 4, 5, 1}, {1, 5, 4, 1}},
  };
  BackendPair backends;
  for (const std::vector<Shape>& shapes : cases) {
    Shape whole = shapes.front();
    whole.c = 0;
    for (const Shape& shape : shapes) whole.c += shape.c;
    const Floats dy = RandomTensor<float>(whole.Elements(), 1, "dy");
    for (const GradientMode mode : kModes) {
      std::vector<std::vector<Floats>> results;
      for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
        std::vector<Floats> tensors;  // the gradients, then the output
        for (const Shape& shape : shapes) {
          tensors.push_back(RandomTensor<float>(shape.Elements(), 1, "x"));
        }
        const std::vector<Floats> inputs = tensors;
        std::vector<ConcatPart> parts;
        for (size_t i = 0; i < shapes.size(); ++i) {
          parts.push_back({shapes[i], inputs[i].data(), tensors[i].data(), mode});
        }
        tensors.emplace_back(whole.Elements());
        const int count = static_cast<int>(parts.size());
        ASSERT_TRUE(
            runner->ops()
                .ConcatForward(runner->stream(), whole, parts.data(), count, tensors.back().data())
                .ok());
        ASSERT_TRUE(runner->ops()
                        .ConcatBackward(runner->stream(), whole, parts.data(), count, dy.data())
                        .ok());
        results.push_back(tensors);
      }
      EXPECT_EQ(results[1], results[0]) << ShapeText(whole);
    }
  }
}

TEST(ConcatParity, PartsWithoutGradientAreLeftAlone) {
  BackendPair backends;
  const Shape shape = {1, 2, 2, 1}, whole = {1, 2, 2, 2};
  const Floats x(4, 1.0f), dy = {1, 2, 3, 4, 5, 6, 7, 8};
  for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
    Floats dx(4);
    const ConcatPart parts[] = {{shape, x.data(), nullptr, GradientMode::kOverwrite},
                                {shape, x.data(), dx.data(), GradientMode::kOverwrite}};
    ASSERT_TRUE(runner->ops().ConcatBackward(runner->stream(), whole, parts, 2, dy.data()).ok());
    EXPECT_EQ(dx, (Floats{2, 4, 6, 8}));
  }
}

TEST(AddParity, AgreesWithReference) {
  BackendPair backends;
  for (const int64_t size : {1, 17, 100003}) {
    const Floats x = RandomTensor<float>(size, 1, "x"), y = RandomTensor<float>(size, 1, "y");
    std::vector<Floats> sums;
    for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
      sums.push_back(y);
      ASSERT_TRUE(runner->ops().Add(runner->stream(), size, x.data(), sums.back().data()).ok());
    }
    EXPECT_EQ(sums[1], sums[0]) << size;
  }
}

template <typename T>
void ExpectEqualNormalization(ImageType type, const Shape& shape, const std::vector<T>& images) {
  const Floats mean = RandomTensor<float>(shape.c, 5, "mean");
  Floats inverse = RandomTensor<float>(shape.c, 5, "inverse");
  BackendPair backends;
  std::vector<Floats> results;
  for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
    Floats y(shape.Elements());
    ASSERT_TRUE(runner->ops()
                    .NormalizeImages(runner->stream(), shape, type, images.data(), mean.data(),
                                     inverse.data(), y.data())
                    .ok());
    results.push_back(y);
  }
  EXPECT_TRUE(TensorNear(results[1], results[0], kElementTolerance)) << ShapeText(shape);
}

TEST(NormalizeImagesParity, AgreesWithReference) {
  for (const Shape& shape :
       {Shape{2, 37, 71, 3}, Shape{1, 5, 3, 1}, Shape{2, 64, 50, 4}, Shape{1, 9, 9, 70}}) {
    const int64_t n = shape.Elements();
    ExpectEqualNormalization(ImageType::kU8, shape, RandomIntegers<uint8_t>(n, 256, 1, "u8"));
    ExpectEqualNormalization(ImageType::kU16, shape, RandomIntegers<uint16_t>(n, 65536, 1, "u16"));
    ExpectEqualNormalization(ImageType::kF32, shape, RandomTensor<float>(n, 1, "f32"));
  }
}

}  // namespace
}  // namespace shardmill
