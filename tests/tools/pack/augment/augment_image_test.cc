#include "tools/pack/augment/augment_image.h"

#include <gtest/gtest.h>

#include <cmath>
#include "tools/pack/augment/pixel_effects.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

constexpr ImageSize kSize = {20, 30};

std::vector<uint8_t> Noise(uint64_t seed) {
  RandomStream random(seed);
  std::vector<uint8_t> pixels(kSize.pixels() * 3);
  for (uint8_t& sample : pixels) sample = static_cast<uint8_t>(random.Below(256));
  return pixels;
}

std::vector<PixelSpan> AllRows() { return std::vector<PixelSpan>(kSize.height, {0, kSize.width}); }

TEST(AugmentImage, NoChangeGivesTheWindow) {
  const std::vector<uint8_t> pixels = Noise(1);
  Augmentation nothing;
  nothing.map.x_offset = nothing.map.y_offset = AffineMap::kOne / 2;
  std::vector<uint8_t> out;
  AugmentImage({kSize, pixels.data()}, nothing, kSize, 7, 0, &out);
  EXPECT_EQ(out, pixels);
}

TEST(AugmentImage, WhatLiesOutsideAndTheCutoutArePadding) {
  const std::vector<uint8_t> pixels(kSize.pixels() * 3, 100);
  Augmentation shifted;
  shifted.map.x_offset = AffineMap::kOne / 2 - 4 * AffineMap::kOne;
  shifted.map.y_offset = AffineMap::kOne / 2;
  shifted.cutout = {5, 10, {2, 3}};
  shifted.noise_permille = 0;
  shifted.blur_radius = 2;
  std::vector<uint8_t> out;
  const std::vector<PixelSpan> shown =
      AugmentImage({kSize, pixels.data()}, shifted, kSize, 7, 9, &out);
  EXPECT_EQ(shown[0].begin, 4u);
  EXPECT_EQ(shown[19].end, 30u);
  int padded = 0;
  for (size_t i = 0; i < kSize.pixels(); ++i) {
    ASSERT_TRUE(out[3 * i] == 9 || out[3 * i] == 100);  // nothing is mixed into the border
    padded += out[3 * i] == 9;
  }
  EXPECT_EQ(padded, 20 * 4 + 2 * 3);
}

TEST(ChangeColors, BrightnessIsAdded) {
  std::vector<uint8_t> pixels(kSize.pixels() * 3, 100);
  Augmentation change;
  change.brightness_permille = 200;
  ChangeColors(change, kSize, AllRows(), pixels.data());
  EXPECT_EQ(pixels[0], 151);
  change.brightness_permille = -1000;
  ChangeColors(change, kSize, AllRows(), pixels.data());
  EXPECT_EQ(pixels[0], 0);
}

TEST(ChangeColors, ContrastKeepsTheMean) {
  std::vector<uint8_t> pixels(kSize.pixels() * 3, 80);
  for (size_t i = 0; i < pixels.size() / 2; ++i) pixels[i] = 120;
  Augmentation change;
  change.contrast_permille = 1500;
  ChangeColors(change, kSize, AllRows(), pixels.data());
  EXPECT_EQ(pixels.front(), 130);
  EXPECT_EQ(pixels.back(), 70);
}

TEST(ChangeColors, GraysStayGrayUnderHueAndSaturation) {
  std::vector<uint8_t> pixels;
  for (size_t i = 0; i < kSize.pixels(); ++i) {
    const auto level = static_cast<uint8_t>(i % 256);
    pixels.insert(pixels.end(), {level, level, level});
  }
  const std::vector<uint8_t> before = pixels;
  Augmentation change;
  change.hue_millidegrees = 77000;
  change.saturation_permille = 1700;
  ChangeColors(change, kSize, AllRows(), pixels.data());
  for (size_t i = 0; i < pixels.size(); ++i) ASSERT_NEAR(pixels[i], before[i], 1);
}

TEST(ChangeColors, ATurnByAThirdExchangesTheChannels) {
  std::vector<uint8_t> pixels = Noise(4);
  const std::vector<uint8_t> before = pixels;
  Augmentation change;
  change.hue_millidegrees = 120000;
  ChangeColors(change, kSize, AllRows(), pixels.data());
  for (size_t i = 0; i < pixels.size(); i += 3) {
    ASSERT_NEAR(pixels[i + 1], before[i], 1);
    ASSERT_NEAR(pixels[i + 2], before[i + 1], 1);
    ASSERT_NEAR(pixels[i], before[i + 2], 1);
  }
}

TEST(ChangeColors, WithoutSaturationEveryPixelIsItsLuma) {
  std::vector<uint8_t> pixels = Noise(5);
  const std::vector<uint8_t> before = pixels;
  Augmentation change;
  change.saturation_permille = 0;
  ChangeColors(change, kSize, AllRows(), pixels.data());
  for (size_t i = 0; i < pixels.size(); i += 3) {
    const double luma = 0.299 * before[i] + 0.587 * before[i + 1] + 0.114 * before[i + 2];
    ASSERT_NEAR(pixels[i], luma, 1);
    ASSERT_EQ(pixels[i], pixels[i + 2]);
  }
}

TEST(Blur, FlatStaysFlatAndAPointBecomesTheKernel) {
  for (uint32_t radius = 1; radius <= 8; ++radius) {
    std::vector<uint8_t> flat(kSize.pixels() * 3, 201);
    Blur(radius, kSize, &flat);
    EXPECT_EQ(flat, std::vector<uint8_t>(kSize.pixels() * 3, 201)) << radius;
  }
  std::vector<uint8_t> point(kSize.pixels() * 3, 0);
  auto red = [&](size_t y, size_t x) -> uint8_t& { return point[3 * (y * kSize.width + x)]; };
  red(10, 10) = 160;
  Blur(1, kSize, &point);
  EXPECT_EQ(red(10, 10), 40);
  EXPECT_EQ(red(10, 11), 20);
  EXPECT_EQ(red(11, 11), 10);
  EXPECT_EQ(red(12, 10), 0);
  EXPECT_EQ(point[3 * (10 * kSize.width + 10) + 1], 0);  // the channels stay apart
}

TEST(AddNoise, HasTheDeviationThatWasAskedFor) {
  std::vector<uint8_t> pixels(300000, 128);
  AddNoise(6000, 42, &pixels);
  double sum = 0, squares = 0;
  for (uint8_t sample : pixels) {
    sum += sample - 128.0;
    squares += (sample - 128.0) * (sample - 128.0);
  }
  const auto count = static_cast<double>(pixels.size());
  EXPECT_NEAR(sum / count, 0, 0.06);
  EXPECT_NEAR(std::sqrt(squares / count), 6, 0.1);
  std::vector<uint8_t> again(300000, 128), other(300000, 128);
  AddNoise(6000, 42, &again);
  AddNoise(6000, 43, &other);
  EXPECT_EQ(again, pixels);
  EXPECT_NE(other, pixels);
}

}  // namespace
}  // namespace shardmill
