#include "tools/pack/augment/warp.h"

#include <gtest/gtest.h>

#include <set>
#include "tools/pack/augment/augmentation.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

ClassIdMap Blocks(ImageSize size, uint32_t block) {
  ClassIdMap map = {size, DType::kU8, {}};
  for (uint32_t y = 0; y < size.height; ++y) {
    for (uint32_t x = 0; x < size.width; ++x) {
      map.bytes.push_back(static_cast<uint8_t>(40 * ((y / block * 3 + x / block) % 5)));
    }
  }
  return map;
}

std::vector<uint8_t> ImageOf(const ClassIdMap& labels) {
  std::vector<uint8_t> pixels;
  for (uint8_t id : labels.bytes) pixels.insert(pixels.end(), {id, id, id});
  return pixels;
}

ImageSize RandomSize(RandomStream* random, uint64_t largest) {
  return {static_cast<uint32_t>(random->Below(largest) + 1),
          static_cast<uint32_t>(random->Below(largest) + 1)};
}

AffineMap RandomMap(ImageSize image, ImageSize window, RandomStream* random) {
  const AugmentOptions options = *ParseAugments("flip,flip-vertical,crop,scale=2,rotate=180");
  return DrawAugmentation(options, {image, window, 0, 0, random->Chance(0.5)}, random)
      .augmentation.map;
}

// No new label values: what is inside is from the source, what is outside is ignore.
TEST(Warp, LabelsHoldNoNewValue) {
  RandomStream random(1);
  for (int i = 0; i < 300; ++i) {
    const ImageSize from = RandomSize(&random, 40), to = RandomSize(&random, 40);
    ClassIdMap labels = Blocks(from, 3), out;
    for (uint8_t& id : labels.bytes) id = static_cast<uint8_t>(id + random.Below(7));
    const std::set<uint8_t> values(labels.bytes.begin(), labels.bytes.end());
    const AffineMap map = RandomMap(from, to, &random);
    WarpLabels(labels, map, to, 255, &out);
    ASSERT_EQ(out.size, to);
    const std::vector<PixelSpan> spans = InsideSpans(map, to, from);
    for (uint32_t y = 0; y < to.height; ++y) {
      for (uint32_t x = 0; x < to.width; ++x) {
        const uint8_t id = out.bytes[y * to.width + x];
        const bool inside = x >= spans[y].begin && x < spans[y].end;
        if (inside) {
          ASSERT_EQ(values.count(id), 1u);
        } else {
          ASSERT_EQ(id, 255);
        }
      }
    }
  }
}

// An image that equals its own label stays equal to it, except where two classes meet: there the
// image is mixed.
TEST(Warp, ImageAndLabelMoveTogether) {
  RandomStream random(2);
  uint64_t compared = 0;
  for (int i = 0; i < 60; ++i) {
    const ClassIdMap labels = Blocks({60, 80}, 12);
    const std::vector<uint8_t> pixels = ImageOf(labels);
    const ImageSize to = {40, 40};
    const AffineMap map = RandomMap(labels.size, to, &random);
    ClassIdMap warped;
    std::vector<uint8_t> image;
    WarpLabels(labels, map, to, 255, &warped);
    WarpImage({labels.size, pixels.data()}, map, to, &image);
    for (size_t y = 2; y < 38; ++y) {
      for (size_t x = 2; x < 38; ++x) {
        std::set<uint8_t> around;
        for (size_t v = y - 2; v <= y + 2; ++v) {
          for (size_t u = x - 2; u <= x + 2; ++u) around.insert(warped.bytes[v * 40 + u]);
        }
        if (around.size() > 1 || *around.begin() == 255) continue;
        ASSERT_EQ(image[3 * (y * 40 + x)], *around.begin());
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 10000u);
}

TEST(Warp, FlipsAndQuarterTurnsMovePixelsExactly) {
  RandomStream random(3);
  ClassIdMap labels = {{6, 6}, DType::kU8, {}}, out;
  for (int i = 0; i < 36; ++i) labels.bytes.push_back(static_cast<uint8_t>(random.Below(200)));
  const std::vector<uint8_t> pixels = ImageOf(labels);
  std::vector<uint8_t> image;
  for (int turns = 0; turns < 4; ++turns) {
    for (bool flip : {false, true}) {
      MapParameters parameters;
      parameters.window = {6, 6};
      parameters.center_y_halves = parameters.center_x_halves = 6;
      parameters.rotation_millidegrees = 90000 * turns;
      parameters.flip_horizontal = flip;
      const AffineMap map = MakeAffineMap(parameters);
      WarpLabels(labels, map, {6, 6}, 255, &out);
      WarpImage({{6, 6}, pixels.data()}, map, {6, 6}, &image);
      EXPECT_EQ(image, ImageOf(out));
      std::multiset<uint8_t> before(labels.bytes.begin(), labels.bytes.end());
      EXPECT_EQ(std::multiset<uint8_t>(out.bytes.begin(), out.bytes.end()), before);
      const bool unchanged = out.bytes == labels.bytes;
      EXPECT_EQ(unchanged, turns == 0 && !flip);
    }
  }
}

TEST(Warp, SixteenBitLabelsAreTaken) {
  ClassIdMap labels = {{1, 2}, DType::kU16, {0x01, 0x02, 0x03, 0x04}}, out;
  MapParameters parameters;
  parameters.window = {1, 4};
  parameters.center_y_halves = 1;
  parameters.center_x_halves = 2;
  parameters.flip_horizontal = true;
  WarpLabels(labels, MakeAffineMap(parameters), {1, 4}, 0xABCD, &out);
  EXPECT_EQ(out.bytes, (std::vector<uint8_t>{0xCD, 0xAB, 3, 4, 1, 2, 0xCD, 0xAB}));
}

}  // namespace
}  // namespace shardmill
