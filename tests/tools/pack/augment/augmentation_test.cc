#include "tools/pack/augment/augmentation.h"

#include <gtest/gtest.h>

#include <set>

namespace shardmill {
namespace {

AugmentOptions Everything() {
  return *ParseAugments(
      "flip,flip-vertical,scale=2,rotate=30,brightness=0.1,contrast=0.3,saturation=0.4,hue=20,"
      "noise=3,blur=2,cutout=0.5");
}

TEST(Augmentation, DrawsStayWithinTheirStrengths) {
  const AugmentFrame frame = {{100, 120}, {40, 60}, 10, 20, false};
  std::set<int32_t> rotations, contrasts;
  int flips = 0, enlarged = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    RandomStream random(seed);
    const Augmentation drawn = DrawAugmentation(Everything(), frame, &random).augmentation;
    flips += drawn.flip_horizontal;
    enlarged += drawn.scale_permille > 1000;
    EXPECT_GE(drawn.scale_permille, 500u);
    EXPECT_LE(drawn.scale_permille, 2000u);
    EXPECT_LE(std::abs(drawn.rotation_millidegrees), 30000);
    EXPECT_LE(std::abs(drawn.brightness_permille), 100);
    EXPECT_LE(std::abs(drawn.contrast_permille - 1000), 300);
    EXPECT_LE(std::abs(drawn.hue_millidegrees), 20000);
    EXPECT_LE(drawn.noise_permille, 3000u);
    EXPECT_LE(drawn.blur_radius, 2u);
    EXPECT_GE(drawn.cutout.size.pixels(), 1u);
    EXPECT_LE(drawn.cutout.y + drawn.cutout.size.height, 40u);
    EXPECT_LE(drawn.cutout.x + drawn.cutout.size.width, 60u);
    EXPECT_LE(drawn.cutout.size.height, 20u);
    rotations.insert(drawn.rotation_millidegrees);
    contrasts.insert(drawn.contrast_permille);
  }
  EXPECT_NEAR(flips, 1000, 120);  // five standard deviations
  EXPECT_NEAR(enlarged, 1000, 120);
  EXPECT_GT(rotations.size(), 1800u);
  EXPECT_GT(contrasts.size(), 500u);
}

TEST(Augmentation, NothingAskedForIsTheWindowItself) {
  RandomStream random(5);
  const DrawnAugmentation drawn =
      DrawAugmentation(AugmentOptions(), {{100, 120}, {40, 60}, 10, -20, false}, &random);
  EXPECT_EQ(drawn.y, 10);
  EXPECT_EQ(drawn.x, -20);
  EXPECT_EQ(drawn.augmentation.map.Y(0, 0), AffineMap::kOne * 21 / 2);
  EXPECT_EQ(drawn.augmentation.map.X(0, 0), -AffineMap::kOne * 39 / 2);
  EXPECT_FALSE(drawn.augmentation.ChangesColors());
  EXPECT_EQ(drawn.augmentation.cutout.size.pixels(), 0u);
}

// Else every pixel would be the mean of two, and lie half a pixel beside its label.
TEST(Augmentation, ImagesSmallerThanTheWindowLieOnWholePixels) {
  RandomStream random(8);
  const DrawnAugmentation drawn =
      DrawAugmentation(AugmentOptions(), {{33, 34}, {40, 40}, -4, -3, true}, &random);
  EXPECT_EQ(drawn.y, -4);
  EXPECT_EQ(drawn.x, -3);
  EXPECT_EQ(drawn.augmentation.map.Y(0, 0), -AffineMap::kOne * 7 / 2);
  EXPECT_EQ(drawn.augmentation.map.X(0, 0), -AffineMap::kOne * 5 / 2);
}

// A scaled window that may lie anywhere shows nothing beyond the image where it fits into it.
TEST(Augmentation, WindowsAnywhereStayInTheImage) {
  const AugmentFrame frame = {{100, 120}, {40, 60}, 0, 0, true};
  const AugmentOptions options = *ParseAugments("flip,scale=1.5");
  std::set<int32_t> rows;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    RandomStream random(seed);
    const DrawnAugmentation drawn = DrawAugmentation(options, frame, &random);
    rows.insert(drawn.y);
    for (const PixelSpan& span : InsideSpans(drawn.augmentation.map, frame.window, frame.image)) {
      ASSERT_EQ(span.end - span.begin, 60u);
    }
  }
  EXPECT_GT(rows.size(), 50u);
}

}  // namespace
}  // namespace shardmill
