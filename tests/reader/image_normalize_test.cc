#include "reader/image_normalize.h"
#include "tests/reader/each_instruction_set.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace shardmill {
namespace {

FieldSpec ImageOf(DType dtype, int64_t height, int64_t width, int64_t channels) {
  FieldSpec spec;
  spec.name = "image";
  spec.role = Role::kImage;
  spec.dtype = dtype;
  spec.shape = {height, width, channels};
  return spec;
}

std::vector<double> Means(int64_t channels) {
  std::vector<double> means;
  for (int64_t c = 0; c < channels; ++c) means.push_back(100.25 + 3 * static_cast<double>(c));
  return means;
}

std::vector<double> Deviations(int64_t channels) {
  std::vector<double> deviations;
  for (int64_t c = 0; c < channels; ++c) deviations.push_back(57.1 / static_cast<double>(c + 1));
  return deviations;
}

template <typename Value>
std::vector<Value> Pixels(uint64_t count) {
  std::vector<Value> pixels(count);
  uint64_t state = count;
  for (Value& pixel : pixels) {
    state = state * 6364136223846793005 + 1442695040888963407;
    pixel = static_cast<Value>(state >> 40);
  }
  return pixels;
}

// What a plain loop over the pixels gives.
template <typename Value>
std::vector<float> Expected(const std::vector<Value>& image, int64_t channels, bool is_planar) {
  const std::vector<double> means = Means(channels);
  const std::vector<double> deviations = Deviations(channels);
  const size_t pixels = image.size() / static_cast<size_t>(channels);
  std::vector<float> expected(image.size());
  for (size_t i = 0; i < pixels; ++i) {
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
      const auto mean = static_cast<float>(means[c]);
      const auto factor = static_cast<float>(1 / deviations[c]);
      const auto value = static_cast<float>(image[i * static_cast<size_t>(channels) + c]);
      const size_t at = is_planar ? c * pixels + i : i * static_cast<size_t>(channels) + c;
      expected[at] = (value - mean) * factor;
    }
  }
  return expected;
}

template <typename Value>
void ExpectAgreesWithPlainLoop(DType dtype, int64_t height, int64_t width, int64_t channels) {
  const auto image = Pixels<Value>(static_cast<uint64_t>(height * width * channels));
  // Not aligned, and with a guard behind the end.
  std::vector<uint8_t> stored(image.size() * sizeof(Value) + 1);
  std::memcpy(stored.data() + 1, image.data(), image.size() * sizeof(Value));
  for (Delivery delivery : {Delivery::kNormalizedNhwc, Delivery::kNormalizedNchw}) {
    auto normalizer = ImageNormalizer::Create(ImageOf(dtype, height, width, channels),
                                              Means(channels), Deviations(channels), delivery);
    ASSERT_TRUE(normalizer.ok()) << normalizer.status().ToString();
    std::vector<float> out(image.size() + 1, -7.0f);
    normalizer->Normalize(stored.data() + 1, static_cast<uint64_t>(height * width), out.data());
    EXPECT_EQ(out.back(), -7.0f);
    out.pop_back();
    EXPECT_EQ(out, Expected(image, channels, delivery == Delivery::kNormalizedNchw))
        << DTypeName(dtype) << " " << height << " x " << width << " x " << channels;
  }
}

TEST(ImageNormalize, AgreesWithAPlainLoopOnEveryInstructionSet) {
  ForEachTarget([] {
    for (int64_t channels : {1, 2, 3, 4, 5, 13}) {
      for (const auto& [height, width] :
           {std::pair<int64_t, int64_t>{1, 1}, {1, 7}, {3, 5}, {7, 31}, {33, 65}, {61, 67}}) {
        ExpectAgreesWithPlainLoop<uint8_t>(DType::kU8, height, width, channels);
        ExpectAgreesWithPlainLoop<uint16_t>(DType::kU16, height, width, channels);
        ExpectAgreesWithPlainLoop<float>(DType::kF32, height, width, channels);
      }
    }
  });
}

TEST(ImageNormalize, ShapesAreThoseOfTheLayout) {
  const FieldSpec spec = ImageOf(DType::kU8, 4, kVariableDim, 3);
  auto nhwc = ImageNormalizer::Create(spec, Means(3), Deviations(3), Delivery::kNormalizedNhwc);
  auto nchw = ImageNormalizer::Create(spec, Means(3), Deviations(3), Delivery::kNormalizedNchw);
  ASSERT_TRUE(nhwc.ok() && nchw.ok());
  EXPECT_EQ(nhwc->delivered().shape, (std::vector<int64_t>{4, kVariableDim, 3}));
  EXPECT_EQ(nchw->delivered().shape, (std::vector<int64_t>{3, 4, kVariableDim}));
  EXPECT_EQ(nchw->delivered().dtype, DType::kF32);
}

TEST(ImageNormalize, ADeviationOfZeroCountsAsOne) {
  auto normalizer =
      ImageNormalizer::Create(ImageOf(DType::kU8, 1, 1, 1), {10}, {0}, Delivery::kNormalizedNhwc);
  ASSERT_TRUE(normalizer.ok());
  const uint8_t pixel = 13;
  float out = 0;
  normalizer->Normalize(&pixel, 1, &out);
  EXPECT_EQ(out, 3.0f);
}

TEST(ImageNormalize, WhatCannotBeNormalisedIsInvalidArgument) {
  auto code = [](const FieldSpec& spec, std::vector<double> mean, std::vector<double> deviation) {
    return ImageNormalizer::Create(spec, mean, deviation, Delivery::kNormalizedNhwc)
        .status()
        .code();
  };
  FieldSpec tensor = ImageOf(DType::kU8, 2, 2, 3);
  tensor.role = Role::kTensor;
  const FieldSpec image = ImageOf(DType::kU8, 2, 2, 3);
  EXPECT_EQ(code(tensor, Means(3), Deviations(3)), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(ImageOf(DType::kI32, 2, 2, 3), Means(3), Deviations(3)),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code(image, Means(2), Deviations(3)), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(image, Means(3), {1, 1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(image, Means(3), {1, 1, -1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(image, {0, 0, std::numeric_limits<double>::quiet_NaN()}, {1, 1, 1}),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
