#include "tools/pack/geometry/geometry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "tools/random_stream.h"

namespace shardmill {
namespace {

ClassIdMap Labels(ImageSize size, uint64_t seed, uint8_t classes) {
  RandomStream random(seed);
  ClassIdMap map = {size, DType::kU8, {}};
  for (uint64_t i = 0; i < size.pixels(); ++i) {
    map.bytes.push_back(static_cast<uint8_t>(random.Below(classes)));
  }
  return map;
}

// An image whose three channels equal the label map.
std::vector<uint8_t> ImageOf(const ClassIdMap& labels) {
  std::vector<uint8_t> pixels;
  for (uint8_t id : labels.bytes) pixels.insert(pixels.end(), {id, id, id});
  return pixels;
}

Placement Place(const GeometryOptions& options, ImageSize source, const std::string& key) {
  return PlaceRecords(options, source, key)->front();
}

TEST(Geometry, WindowOfAPartShowsTheSamePixels) {
  const ClassIdMap labels = Labels({20, 30}, 1, 200);
  const std::vector<uint8_t> image = ImageOf(labels);
  for (const ImageSize crop : {ImageSize{7, 9}, ImageSize{26, 9}, ImageSize{8, 41}}) {
    GeometryOptions options;
    options.crop = crop;
    const Placement placement = Place(options, labels.size, "key");
    const Region part = placement.Visible();
    std::vector<uint8_t> pixels, of_whole, of_part;
    for (uint32_t y = 0; y < part.size.height; ++y) {
      const auto row = image.begin() + 3 * ((part.y + y) * 30 + part.x);
      pixels.insert(pixels.end(), row, row + 3 * part.size.width);
    }
    CutImage({labels.size, image.data()}, placement, 77, &of_whole);
    CutImage({part.size, pixels.data()}, placement.Within(part), 77, &of_part);
    EXPECT_EQ(of_whole, of_part);
  }
}

TEST(Geometry, WindowWithoutPaddingIsWhatCutImageGives) {
  const ClassIdMap labels = Labels({20, 30}, 2, 200);
  const std::vector<uint8_t> image = ImageOf(labels);
  for (const ImageSize crop : {ImageSize{7, 9}, ImageSize{20, 9}, ImageSize{8, 30}, labels.size}) {
    GeometryOptions options;
    options.crop = crop;
    const Placement placement = Place(options, labels.size, "key");
    std::vector<uint8_t> cut;
    CutImage({labels.size, image.data()}, placement, 77, &cut);
    const std::string window = CutWindow({labels.size, image.data()}, placement);
    EXPECT_EQ(window, std::string(cut.begin(), cut.end()));
  }
}

TEST(Geometry, WindowOfAResizedImageIsNotMoved) {
  GeometryOptions options;
  options.resize = ResizeRule{ResizeRule::Kind::kExact, {10, 10}, 0};
  options.crop = ImageSize{4, 4};
  const Placement placement = Place(options, {20, 20}, "key");
  const Placement within = placement.Within({0, 0, {20, 20}});
  EXPECT_EQ(within.resized, (ImageSize{10, 10}));
  EXPECT_EQ(within.y, placement.y);
}

// An image that equals its own label stays so: one window serves both.
TEST(Geometry, ImageAndLabelShowTheSameWindow) {
  RandomStream random(9);
  for (int i = 0; i < 200; ++i) {
    ImageSize size = {static_cast<uint32_t>(random.Below(40) + 1),
                      static_cast<uint32_t>(random.Below(40) + 1)};
    GeometryOptions options;
    options.crop = ImageSize{static_cast<uint32_t>(random.Below(40) + 1),
                             static_cast<uint32_t>(random.Below(40) + 1)};
    options.crop_mode = random.Chance(0.5) ? CropMode::kRandom : CropMode::kCenter;
    ClassIdMap labels = Labels(size, random.Next(), 200), cut_labels;
    std::vector<uint8_t> pixels = ImageOf(labels), cut;
    Placement placement = Place(options, size, std::to_string(i));
    CutImage({size, pixels.data()}, placement, 255, &cut);
    CutLabels(labels, placement, 255, &cut_labels);
    EXPECT_EQ(cut, ImageOf(cut_labels));
    uint64_t padded = 0;
    for (uint8_t id : cut_labels.bytes) padded += id == 255;
    EXPECT_EQ(padded, options.crop->pixels() - placement.Visible().size.pixels());
  }
}

TEST(Geometry, ResizedLabelsHoldNoNewValue) {
  RandomStream random(11);
  for (int i = 0; i < 100; ++i) {
    ImageSize from = {static_cast<uint32_t>(random.Below(30) + 1),
                      static_cast<uint32_t>(random.Below(30) + 1)};
    ImageSize to = {static_cast<uint32_t>(random.Below(60) + 1),
                    static_cast<uint32_t>(random.Below(60) + 1)};
    ClassIdMap labels = Labels(from, random.Next(), 5), resized;
    ResizeLabels(labels, to, &resized);
    std::set<uint8_t> old_values(labels.bytes.begin(), labels.bytes.end());
    EXPECT_EQ(resized.bytes.size(), to.pixels());
    for (uint8_t id : resized.bytes) EXPECT_EQ(old_values.count(id), 1u);
  }
}

TEST(Geometry, NearestTakesTheCentre) {
  ClassIdMap labels = {{1, 6}, DType::kU8, {0, 1, 2, 3, 4, 5}}, resized;
  ResizeLabels(labels, {1, 2}, &resized);
  EXPECT_EQ(resized.bytes, (std::vector<uint8_t>{1, 4}));
  ResizeLabels(labels, {1, 3}, &resized);
  EXPECT_EQ(resized.bytes, (std::vector<uint8_t>{1, 3, 5}));
  ResizeLabels(labels, {2, 12}, &resized);
  EXPECT_EQ(resized.bytes, (std::vector<uint8_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5,
                                                 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
}

TEST(Geometry, SixteenBitLabelsAreCutAndResized) {
  ClassIdMap labels = {{1, 2}, DType::kU16, {0x01, 0x02, 0x03, 0x04}}, resized, cut;
  ResizeLabels(labels, {1, 4}, &resized);
  EXPECT_EQ(resized.bytes, (std::vector<uint8_t>{1, 2, 1, 2, 3, 4, 3, 4}));
  GeometryOptions options;
  options.crop = ImageSize{1, 4};
  CutLabels(labels, Place(options, {1, 2}, ""), 0xABCD, &cut);
  EXPECT_EQ(cut.bytes, (std::vector<uint8_t>{0xCD, 0xAB, 1, 2, 3, 4, 0xCD, 0xAB}));
}

TEST(Geometry, ResizingToTheSameSizeChangesNothing) {
  ClassIdMap labels = Labels({13, 17}, 1, 255);
  std::vector<uint8_t> pixels = ImageOf(labels), resized;
  ResizeImage({labels.size, pixels.data()}, labels.size, &resized);
  EXPECT_EQ(resized, pixels);
}

TEST(Geometry, FlatImagesStayFlat) {
  for (ImageSize to : {ImageSize{1, 1}, ImageSize{7, 3}, ImageSize{50, 91}, ImageSize{20, 5}}) {
    std::vector<uint8_t> pixels(10 * 30 * 3, 137), resized;
    ResizeImage({{10, 30}, pixels.data()}, to, &resized);
    EXPECT_EQ(resized, std::vector<uint8_t>(to.pixels() * 3, 137)) << FormatImageSize(to);
  }
}

// The area filter written down directly, in floating point.
TEST(Geometry, ShrinkingIsTheMeanOverTheArea) {
  const ImageSize from = {11, 14}, to = {4, 5};
  ClassIdMap source = Labels(from, 3, 255);
  std::vector<uint8_t> pixels = ImageOf(source), resized;
  ResizeImage({from, pixels.data()}, to, &resized);
  auto overlap = [](uint32_t d, uint32_t s, uint32_t from_side, uint32_t to_side) {
    double scale = static_cast<double>(from_side) / to_side;
    return std::max(0.0, std::min<double>((d + 1) * scale, s + 1) - std::max<double>(d * scale, s));
  };
  for (uint32_t y = 0; y < to.height; ++y) {
    for (uint32_t x = 0; x < to.width; ++x) {
      double sum = 0, area = 0;
      for (uint32_t v = 0; v < from.height; ++v) {
        for (uint32_t u = 0; u < from.width; ++u) {
          double weight =
              overlap(y, v, from.height, to.height) * overlap(x, u, from.width, to.width);
          sum += weight * source.bytes[v * from.width + u];
          area += weight;
        }
      }
      EXPECT_NEAR(resized[3 * (y * to.width + x)], sum / area, 0.5 + 1e-9);
    }
  }
}

TEST(Geometry, EnlargingIsLinearBetweenPixelCentres) {
  std::vector<uint8_t> pixels = {0, 0, 0, 100, 100, 100}, resized;
  ResizeImage({{1, 2}, pixels.data()}, {1, 4}, &resized);
  EXPECT_EQ(resized[0], 0);
  EXPECT_EQ(resized[3], 25);
  EXPECT_EQ(resized[6], 75);
  EXPECT_EQ(resized[9], 100);
}

}  // namespace
}  // namespace shardmill
