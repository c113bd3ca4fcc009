#include "tools/pack/augment/affine_map.h"

#include <gtest/gtest.h>

#include "tools/random_stream.h"

namespace shardmill {
namespace {

TEST(AffineMap, UnchangedWindowIsExact) {
  MapParameters parameters;
  parameters.window = {7, 10};
  parameters.center_y_halves = 2 * 3 + 7;  // the window begins at row 3, column -2
  parameters.center_x_halves = 2 * -2 + 10;
  const AffineMap map = MakeAffineMap(parameters);
  EXPECT_EQ(map.X(0, 0), -AffineMap::kOne * 3 / 2);
  EXPECT_EQ(map.Y(0, 0), AffineMap::kOne * 7 / 2);
  EXPECT_EQ(map.X(6, 9), AffineMap::kOne * 15 / 2);
  EXPECT_EQ(map.Y(6, 9), AffineMap::kOne * 19 / 2);
}

TEST(AffineMap, FlipsAndQuarterTurnsAreExact) {
  MapParameters parameters;
  parameters.window = {4, 4};
  parameters.center_y_halves = parameters.center_x_halves = 4;
  parameters.flip_horizontal = true;
  AffineMap map = MakeAffineMap(parameters);
  EXPECT_EQ(map.X(0, 0), AffineMap::kOne * 7 / 2);
  EXPECT_EQ(map.Y(0, 0), AffineMap::kOne / 2);
  parameters.flip_horizontal = false;
  parameters.rotation_millidegrees = 90000;  // clockwise: the lower left comes to the upper left
  map = MakeAffineMap(parameters);
  EXPECT_EQ(map.X(0, 0), AffineMap::kOne / 2);
  EXPECT_EQ(map.Y(0, 0), AffineMap::kOne * 7 / 2);
}

TEST(AffineMap, ScaleTwoShowsHalfOfTheSource) {
  MapParameters parameters;
  parameters.window = {10, 20};
  parameters.center_y_halves = 10;
  parameters.center_x_halves = 20;
  parameters.scale_permille = 2000;
  const AffineMap map = MakeAffineMap(parameters);
  EXPECT_EQ(map.Y(9, 0) - map.Y(0, 0), AffineMap::kOne * 9 / 2);
  EXPECT_EQ(map.Y(0, 0), AffineMap::kOne * 11 / 4);  // 5 - 10 / 4 + 1 / 4
}

TEST(AffineMap, SpansHoldExactlyThePixelsInside) {
  RandomStream random(3);
  for (int i = 0; i < 300; ++i) {
    MapParameters parameters;
    parameters.window = {static_cast<uint32_t>(random.Below(20) + 1),
                         static_cast<uint32_t>(random.Below(20) + 1)};
    parameters.center_y_halves = static_cast<int64_t>(random.Below(40));
    parameters.center_x_halves = static_cast<int64_t>(random.Below(40));
    parameters.scale_permille = static_cast<uint32_t>(500 + random.Below(1500));
    parameters.rotation_millidegrees = static_cast<int32_t>(random.Below(360000)) - 180000;
    parameters.flip_horizontal = random.Chance(0.5);
    parameters.flip_vertical = random.Chance(0.5);
    const AffineMap map = MakeAffineMap(parameters);
    ASSERT_TRUE(map.IsSound());
    const ImageSize source = {15, 18};
    const std::vector<PixelSpan> spans = InsideSpans(map, parameters.window, source);
    ASSERT_EQ(spans.size(), parameters.window.height);
    for (uint32_t y = 0; y < parameters.window.height; ++y) {
      for (uint32_t x = 0; x < parameters.window.width; ++x) {
        const bool in_span = x >= spans[y].begin && x < spans[y].end;
        ASSERT_EQ(in_span, map.IsInside(y, x, source));
      }
    }
  }
}

TEST(AffineMap, HugeNumbersAreNotSound) {
  AffineMap map;
  EXPECT_TRUE(map.IsSound());
  map.y_from_x = INT64_MAX;
  EXPECT_FALSE(map.IsSound());
  map = AffineMap();
  map.x_offset = INT64_MIN;
  EXPECT_FALSE(map.IsSound());
}

}  // namespace
}  // namespace shardmill
