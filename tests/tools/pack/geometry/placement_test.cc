#include "tools/pack/geometry/placement.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tools/random_stream.h"

namespace shardmill {
namespace {

std::vector<Placement> PlaceAll(const GeometryOptions& options, ImageSize source,
                                const std::string& key) {
  Result<std::vector<Placement>> placements = PlaceRecords(options, source, key);
  EXPECT_TRUE(placements.ok()) << placements.status().ToString();
  return placements.ok() ? *placements : std::vector<Placement>();
}

Placement Place(const GeometryOptions& options, ImageSize source, const std::string& key) {
  return PlaceAll(options, source, key).at(0);
}

ImageSize RandomSize(RandomStream* random, uint64_t largest) {
  return {static_cast<uint32_t>(random->Below(largest) + 1),
          static_cast<uint32_t>(random->Below(largest) + 1)};
}

TEST(Placement, CenterCropRoundsDown) {
  GeometryOptions options;
  options.crop = ImageSize{4, 5};
  Placement placement = Place(options, {7, 8}, "key");
  EXPECT_EQ(placement.y, 1);
  EXPECT_EQ(placement.x, 1);
  EXPECT_EQ(placement.seed, 0u);
  EXPECT_EQ(placement.Visible().size, (ImageSize{4, 5}));
}

TEST(Placement, LargerCropKeepsTheWholeSide) {
  for (CropMode mode : {CropMode::kCenter, CropMode::kRandom}) {
    GeometryOptions options;
    options.crop = ImageSize{128, 128};
    options.crop_mode = mode;
    Placement placement = Place(options, {90, 201}, "key");
    EXPECT_EQ(placement.y, -19);
    Region visible = placement.Visible();
    EXPECT_EQ(visible.y, 0u);
    EXPECT_EQ(visible.size, (ImageSize{90, 128}));
    EXPECT_EQ(placement.VisibleRow(), 19u);
  }
  GeometryOptions odd;
  odd.crop = ImageSize{4, 4};
  EXPECT_EQ(Place(odd, {3, 3}, "").y, -1);  // one row above, none below
}

TEST(Placement, RandomCropsFollowSeedAndKeyAlone) {
  GeometryOptions options;
  options.crop = ImageSize{10, 10};
  options.crop_mode = CropMode::kRandom;
  options.seed = 3;
  Placement first = Place(options, {100, 100}, "a.png");
  Placement again = Place(options, {100, 100}, "a.png");
  EXPECT_EQ(first.y, again.y);
  EXPECT_EQ(first.x, again.x);
  EXPECT_NE(first.seed, 0u);
  std::set<int32_t> rows, columns;
  for (int i = 0; i < 2000; ++i) {
    Placement placement = Place(options, {100, 100}, std::to_string(i));
    EXPECT_GE(placement.y, 0);
    EXPECT_LE(placement.y, 90);
    rows.insert(placement.y);
    columns.insert(placement.x);
  }
  EXPECT_EQ(rows.size(), 91u);  // each of 91 offsets is missed with probability 3e-10
  EXPECT_EQ(columns.size(), 91u);
  options.seed = 4;
  Placement other = Place(options, {100, 100}, "a.png");
  EXPECT_TRUE(other.y != first.y || other.x != first.x);
}

TEST(Placement, VariantsAreDrawnIndependently) {
  GeometryOptions options;
  options.crop = ImageSize{10, 10};
  options.crop_mode = CropMode::kRandom;
  options.variants = 50;
  const std::vector<Placement> placements = PlaceAll(options, {500, 500}, "a.png");
  ASSERT_EQ(placements.size(), 50u);
  std::set<std::pair<int32_t, int32_t>> windows;
  std::set<uint64_t> seeds;
  for (uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(placements[i].variant, i);
    windows.insert({placements[i].y, placements[i].x});
    seeds.insert(placements[i].seed);
  }
  EXPECT_EQ(windows.size(), 50u);
  EXPECT_EQ(seeds.size(), 50u);
  options.variants = 3;  // fewer of them are the first of them
  EXPECT_EQ(PlaceAll(options, {500, 500}, "a.png").back().seed, placements[2].seed);
  EXPECT_EQ(VariantKey("a.png", 0), "a.png");
  EXPECT_EQ(VariantKey("a.png", 12), "a.png#v12");
}

// Every pixel is in a tile, neighbours share `overlap` pixels, no tile lies outside.
TEST(Placement, TilesCoverTheImage) {
  RandomStream random(5);
  for (int i = 0; i < 300; ++i) {
    const ImageSize image = RandomSize(&random, 60), window = RandomSize(&random, 30);
    GeometryOptions options;
    options.crop = window;
    options.crop_mode = CropMode::kTile;
    options.tile_overlap =
        static_cast<uint32_t>(random.Below(std::min(window.height, window.width)));
    const std::vector<Placement> tiles = PlaceAll(options, image, "key");
    EXPECT_EQ(tiles.size(), CountRecords(options, image));
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (const Placement& tile : tiles) {
      const Region visible = tile.Visible();
      ASSERT_GT(visible.size.pixels(), 0u);
      ASSERT_EQ(tile.y % static_cast<int32_t>(window.height - options.tile_overlap), 0);
      ASSERT_EQ(tile.VisibleRow(), 0u);
      for (uint32_t y = 0; y < visible.size.height; ++y) {
        for (uint32_t x = 0; x < visible.size.width; ++x) {
          seen.insert({visible.y + y, visible.x + x});
        }
      }
    }
    EXPECT_EQ(seen.size(), image.pixels());
    const Region all = VisibleInAny(tiles);
    EXPECT_EQ(all.size, image);
  }
}

TEST(Placement, TileGridIsRowByRowAndNoLargerThanNeeded) {
  GeometryOptions options;
  options.crop = ImageSize{4, 4};
  options.crop_mode = CropMode::kTile;
  EXPECT_EQ(CountRecords(options, {8, 8}), 4u);
  EXPECT_EQ(CountRecords(options, {9, 8}), 6u);
  EXPECT_EQ(CountRecords(options, {3, 4}), 1u);
  options.tile_overlap = 1;
  EXPECT_EQ(CountRecords(options, {7, 10}), 6u);  // rows 0 and 3; columns 0, 3 and 6
  const std::vector<Placement> tiles = PlaceAll(options, {7, 10}, "key");
  EXPECT_EQ(tiles[1].y, 0);
  EXPECT_EQ(tiles[1].x, 3);
  EXPECT_EQ(tiles[3].y, 3);
  EXPECT_EQ(tiles[3].variant, 3u);
}

TEST(Placement, CornersAndCentreOnce) {
  GeometryOptions options;
  options.crop = ImageSize{4, 4};
  options.crop_mode = CropMode::kCorners;
  const std::vector<Placement> five = PlaceAll(options, {10, 20}, "key");
  ASSERT_EQ(five.size(), 5u);
  EXPECT_EQ(five[3].y, 6);
  EXPECT_EQ(five[3].x, 16);
  EXPECT_EQ(five[4].y, 3);
  EXPECT_EQ(PlaceAll(options, {4, 20}, "key").size(), 3u);
  EXPECT_EQ(PlaceAll(options, {4, 4}, "key").size(), 1u);
  EXPECT_EQ(PlaceAll(options, {2, 2}, "key").front().y, -1);
  EXPECT_EQ(CountRecords(options, {4, 20}), 3u);
}

TEST(Placement, TooManyTilesAreAnError) {
  GeometryOptions options;
  options.crop = ImageSize{1, 1};
  options.crop_mode = CropMode::kTile;
  EXPECT_TRUE(PlaceRecords(options, {256, 256}, "key").ok());
  const Status status = PlaceRecords(options, {257, 256}, "key").status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("65,792 records"), std::string::npos) << status.message();
}

TEST(Placement, ResizeRulesKeepTheProportion) {
  ResizeRule rule;
  rule.kind = ResizeRule::Kind::kShortSide;
  rule.side = 100;
  EXPECT_EQ(rule.Apply({360, 480}), (ImageSize{100, 133}));
  EXPECT_EQ(rule.Apply({480, 360}), (ImageSize{133, 100}));
  EXPECT_EQ(rule.Apply({50, 50}), (ImageSize{100, 100}));
  rule.kind = ResizeRule::Kind::kLongSide;
  EXPECT_EQ(rule.Apply({360, 480}), (ImageSize{75, 100}));
  EXPECT_EQ(rule.Apply({480, 360}), (ImageSize{100, 75}));
  EXPECT_EQ(rule.Apply({1, 1000}), (ImageSize{1, 100}));  // not 0 high
  rule.kind = ResizeRule::Kind::kExact;
  rule.size = {3, 4};
  EXPECT_EQ(rule.Apply({360, 480}), (ImageSize{3, 4}));
}

TEST(Placement, ResizeRulesAreParsed) {
  for (const char* text : {"352x480", "short=512", "long=1"}) {
    Result<ResizeRule> rule = ParseResize(text);
    ASSERT_TRUE(rule.ok()) << text;
    EXPECT_EQ(FormatResize(*rule), text);
  }
  for (const char* text : {"", "352", "short", "short=", "short=0", "wide=3", "long=-1",
                           "long=99999999", "short=3x4"}) {
    EXPECT_EQ(ParseResize(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace shardmill
