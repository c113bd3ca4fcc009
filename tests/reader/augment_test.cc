#include "reader/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reader/epoch_order.h"

namespace shardmill {
namespace {

const OrderKey kKey = {123, 456};

bool Equal(const PixelWindow& a, const PixelWindow& b) {
  return a.y == b.y && a.x == b.x && a.height == b.height && a.width == b.width &&
         a.flip_horizontal == b.flip_horizontal && a.flip_vertical == b.flip_vertical;
}

TEST(Augment, NothingAskedForIsTheWholeImage) {
  EXPECT_FALSE(Augment().IsOn());
  EXPECT_TRUE(Equal(WindowOf(Augment(), kKey, 5, 4, 7), {0, 0, 4, 7, false, false}));
}

TEST(Augment, RandomCropsAreSpreadEvenlyOverAllPlaces) {
  Augment augment;
  augment.crop_height = 8;
  augment.crop_width = 8;
  for (int64_t border : {0, 2}) {
    augment.border = border;
    std::map<std::pair<int64_t, int64_t>, uint64_t> counts;
    constexpr uint64_t kDraws = 20000;
    for (uint64_t position = 0; position < kDraws; ++position) {
      const PixelWindow window = WindowOf(augment, kKey, position, 10, 11);
      ASSERT_GE(window.y, -border);
      ASSERT_LE(window.y, 2 + border);
      ASSERT_GE(window.x, -border);
      ASSERT_LE(window.x, 3 + border);
      ++counts[{window.y, window.x}];
    }
    const auto places = static_cast<double>((3 + 2 * border) * (4 + 2 * border));
    ASSERT_EQ(static_cast<double>(counts.size()), places);
    double chi_square = 0;
    for (const auto& entry : counts) {
      const double expected = kDraws / places;
      chi_square += std::pow(static_cast<double>(entry.second) - expected, 2) / expected;
    }
    EXPECT_LT(chi_square, places + 6 * std::sqrt(2 * places));
  }
}

TEST(Augment, ACropLargerThanTheImageHoldsAllOfIt) {
  Augment augment;
  augment.crop_height = 9;
  augment.crop_width = 20;
  augment.border = 3;
  for (uint64_t position = 0; position < 200; ++position) {
    const PixelWindow window = WindowOf(augment, kKey, position, 6, 20);
    ASSERT_LE(window.y, 0);
    ASSERT_GE(window.y + 9, 6);
  }
  EXPECT_TRUE(MayReachOutside(augment, 6, 20));
  augment.border = 0;
  EXPECT_TRUE(MayReachOutside(augment, 6, 20));
  EXPECT_FALSE(MayReachOutside(augment, 9, 20));
}

TEST(Augment, CentredCropsLieInTheMiddle) {
  Augment augment;
  augment.crop_height = 4;
  augment.crop_width = 7;
  augment.place = CropPlace::kCenter;
  EXPECT_TRUE(Equal(WindowOf(augment, kKey, 1, 10, 10), {3, 1, 4, 7, false, false}));
  EXPECT_TRUE(Equal(WindowOf(augment, kKey, 2, 4, 4), {0, -2, 4, 7, false, false}));
}

TEST(Augment, FlipsHappenAsOftenAsAskedAndIndependently) {
  Augment augment;
  augment.horizontal_flip = 0.5;
  augment.vertical_flip = 0.1;
  int horizontal = 0;
  int vertical = 0;
  int both = 0;
  for (uint64_t position = 0; position < 10000; ++position) {
    const PixelWindow window = WindowOf(augment, kKey, position, 4, 7);
    horizontal += window.flip_horizontal;
    vertical += window.flip_vertical;
    both += window.flip_horizontal && window.flip_vertical;
  }
  EXPECT_NEAR(horizontal, 5000, 300);  // 6 standard deviations
  EXPECT_NEAR(vertical, 1000, 180);
  EXPECT_NEAR(both, 500, 131);
  augment.horizontal_flip = 1;
  EXPECT_TRUE(WindowOf(augment, kKey, 3, 4, 7).flip_horizontal);
}

TEST(Augment, ScalesAreDrawnEvenlyAndKeepTheProportions) {
  Augment augment;
  augment.scale_least = 0.5;
  augment.scale_most = 2;
  EXPECT_TRUE(MayReachOutside(augment, 100, 300));
  double sum = 0;
  int64_t least = 1000, most = 0;
  constexpr uint64_t kDraws = 10000;
  for (uint64_t position = 0; position < kDraws; ++position) {
    const PixelWindow window = WindowOf(augment, kKey, position, 100, 300);
    ASSERT_EQ(window.height, 100);
    ASSERT_EQ(window.width, 300);
    ASSERT_NEAR(static_cast<double>(window.scaled_width), 3.0 * window.scaled_height, 2);
    // All of the image, or nothing but the image.
    const ShownPart shown = window.Shown(100, 300);
    ASSERT_EQ(shown.height, std::min<int64_t>(100, window.scaled_height));
    ASSERT_EQ(shown.width, std::min<int64_t>(300, window.scaled_width));
    least = std::min(least, window.scaled_height);
    most = std::max(most, window.scaled_height);
    sum += static_cast<double>(window.scaled_height);
  }
  EXPECT_EQ(least, 50);
  EXPECT_EQ(most, 200);
  EXPECT_NEAR(sum / kDraws, 125, 3);  // 6 standard deviations of the mean
  augment.scale_least = 1;
  EXPECT_FALSE(MayReachOutside(augment, 100, 300));
  augment.crop_height = augment.crop_width = 101;
  EXPECT_TRUE(MayReachOutside(augment, 100, 300));
}

TEST(Augment, ColoursAreDrawnInBothDirectionsUpToTheirLimits) {
  Augment augment;
  EXPECT_FALSE(ColorsOf(augment, kKey, 1).IsOn());
  augment.brightness = 0.1;
  augment.contrast = 0.2;
  augment.saturation = 0.3;
  augment.hue = 4;
  EXPECT_TRUE(augment.IsOn());
  EXPECT_FALSE(augment.MovesPixels());
  int64_t least[4] = {}, most[4] = {};
  for (uint64_t position = 0; position < 20000; ++position) {
    const ColorChange change = ColorsOf(augment, kKey, position);
    const int64_t drawn[4] = {change.brightness_permille, change.contrast_permille - 1000,
                              change.saturation_permille - 1000, change.hue_millidegrees};
    for (int i = 0; i < 4; ++i) {
      least[i] = std::min(least[i], drawn[i]);
      most[i] = std::max(most[i], drawn[i]);
    }
  }
  const int64_t limits[4] = {100, 200, 300, 4000};
  for (int i = 0; i < 4; ++i) {
    EXPECT_GE(least[i], -limits[i]);
    EXPECT_LE(most[i], limits[i]);
    EXPECT_NEAR(static_cast<double>(least[i]), static_cast<double>(-limits[i]), 4);
    EXPECT_NEAR(static_cast<double>(most[i]), static_cast<double>(limits[i]), 4);
  }
}

TEST(Augment, BadOptionsAreInvalidArgument) {
  auto code = [](auto change) {
    Augment augment;
    augment.crop_height = 4;
    augment.crop_width = 4;
    change(&augment);
    return CheckAugment(augment).code();
  };
  using A = Augment*;
  EXPECT_EQ(code([](A) {}), StatusCode::kOk);
  EXPECT_EQ(code([](A a) { a->horizontal_flip = 1.1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->vertical_flip = -0.1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->vertical_flip = std::nan(""); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->crop_height = 0; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->crop_width = -1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->border = -1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->scale_least = 0.5; }), StatusCode::kOk);
  EXPECT_EQ(code([](A a) { a->scale_least = 0; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->scale_least = 1.5; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->scale_most = 17; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->scale_most = std::nan(""); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->contrast = 1.5; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->brightness = std::nan(""); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->hue = 181; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](A a) { a->border = 1, a->place = CropPlace::kCenter; }),
            StatusCode::kInvalidArgument);
}

TEST(Augment, ImagesThatCannotBeChangedAreInvalidArgument) {
  FieldSpec image;
  image.name = "image";
  image.role = Role::kImage;
  const auto code = [&](DType dtype, int64_t channels, const Augment& augment) {
    image.dtype = dtype;
    image.shape = {4, 5, channels};
    return CheckAugmentedImage(image, augment).code();
  };
  Augment contrast, hue, scale;
  contrast.contrast = 0.5;
  hue.hue = 5;
  scale.scale_most = 2;
  EXPECT_EQ(code(DType::kU8, 3, hue), StatusCode::kOk);
  EXPECT_EQ(code(DType::kU16, 1, contrast), StatusCode::kOk);
  EXPECT_EQ(code(DType::kU8, 1, hue), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(DType::kU8, 4, contrast), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(DType::kF32, 3, contrast), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(DType::kF32, 5, scale), StatusCode::kOk);
  EXPECT_EQ(code(DType::kI32, 3, scale), StatusCode::kInvalidArgument);
}

// A promise to every run that resumes: these change only with kEpochOrderVersion.
TEST(Augment, GoldenValuesOfVersion1) {
  ASSERT_EQ(kEpochOrderVersion, 1u);
  Augment augment;
  augment.crop_height = 8;
  augment.crop_width = 8;
  augment.horizontal_flip = 0.5;
  augment.vertical_flip = 0.5;
  const OrderKey key = MakeOrderKey(1, 2, "train", "augment");
  EXPECT_TRUE(Equal(WindowOf(augment, key, 0, 100, 200), {74, 80, 8, 8, false, false}));
  EXPECT_TRUE(Equal(WindowOf(augment, key, 1, 100, 200), {76, 17, 8, 8, true, false}));
  EXPECT_TRUE(Equal(WindowOf(augment, key, 2, 100, 200), {12, 22, 8, 8, false, true}));
  EXPECT_TRUE(Equal(WindowOf(augment, key, 3, 100, 200), {75, 56, 8, 8, true, false}));
}

}  // namespace
}  // namespace shardmill
