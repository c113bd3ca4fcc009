#include "reader/augment.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(code([](A a) { a->border = 1, a->place = CropPlace::kCenter; }),
            StatusCode::kInvalidArgument);
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
