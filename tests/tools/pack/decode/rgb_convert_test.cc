#include "tools/pack/decode/rgb_convert.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace shardmill {
namespace {

SourceImage Make(ImageSize size, PixelLayout layout, std::vector<uint8_t> samples) {
  SourceImage image;
  AllocateSamples(size, layout, 1, &image);
  EXPECT_EQ(image.samples.size(), samples.size());
  image.samples = std::move(samples);
  return image;
}

std::vector<uint8_t> Pixels(const RgbImage& image) {
  return std::vector<uint8_t>(image.pixels, image.pixels + image.size.pixels() * 3);
}

TEST(RgbConvert, RgbPassesWithoutCopy) {
  SourceImage image = Make({1, 2}, PixelLayout::kRgb, {1, 2, 3, 4, 5, 6});
  RgbConverter converter;
  ConversionCounts counts = {};
  EXPECT_EQ(converter.Convert(image, &counts).pixels, image.samples.data());
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), uint64_t{0}), 0u);
}

TEST(RgbConvert, GrayIsSpreadOverAllChannels) {
  SourceImage image = Make({1, 4}, PixelLayout::kGray, {0, 1, 2, 3});
  image.stored_bits = 2;
  RgbConverter converter;
  ConversionCounts counts = {};
  EXPECT_EQ(Pixels(converter.Convert(image, &counts)),
            (std::vector<uint8_t>{0, 0, 0, 85, 85, 85, 170, 170, 170, 255, 255, 255}));
  EXPECT_EQ(counts[kGrayToRgb], 1u);
}

TEST(RgbConvert, AlphaIsDroppedAndCounted) {
  SourceImage rgba = Make({1, 2}, PixelLayout::kRgba, {1, 2, 3, 0, 4, 5, 6, 255});
  rgba.has_transparency = true;
  SourceImage gray = Make({1, 2}, PixelLayout::kGrayAlpha, {7, 0, 9, 255});
  gray.has_transparency = true;
  RgbConverter converter;
  ConversionCounts counts = {};
  EXPECT_EQ(Pixels(converter.Convert(rgba, &counts)), (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Pixels(converter.Convert(gray, &counts)), (std::vector<uint8_t>{7, 7, 7, 9, 9, 9}));
  EXPECT_EQ(counts[kAlphaDropped], 2u);
  EXPECT_EQ(counts[kGrayToRgb], 1u);
}

TEST(RgbConvert, PaletteIsExpanded) {
  SourceImage image = Make({1, 2}, PixelLayout::kPalette, {1, 0});
  image.palette = {0x010203, 0xAABBCC};
  RgbConverter converter;
  ConversionCounts counts = {};
  EXPECT_EQ(Pixels(converter.Convert(image, &counts)),
            (std::vector<uint8_t>{0xAA, 0xBB, 0xCC, 1, 2, 3}));
  EXPECT_EQ(counts[kPaletteToRgb], 1u);
}

TEST(RgbConvert, SixteenBitsAreRounded) {
  SourceImage image;
  AllocateSamples({1, 4}, PixelLayout::kGray, 2, &image);
  image.stored_bits = 16;
  const uint16_t values[] = {0, 128, 129, 65535};
  std::memcpy(image.samples.data(), values, sizeof values);
  RgbConverter converter;
  ConversionCounts counts = {};
  std::vector<uint8_t> rgb = Pixels(converter.Convert(image, &counts));
  EXPECT_EQ(rgb[0], 0);
  EXPECT_EQ(rgb[3], 0);  // 128 / 257 is just below a half
  EXPECT_EQ(rgb[6], 1);
  EXPECT_EQ(rgb[9], 255);
  EXPECT_EQ(counts[kSixteenToEightBits], 1u);
}

// The picture F-like: 2 rows, 3 columns, every pixel differs. What stands upright follows from
// the definition of the tag: it says where row 0 and column 0 of the stored image belong.
TEST(RgbConvert, AllEightOrientations) {
  const std::vector<std::vector<int>> upright = {
      {1, 2, 3, 4, 5, 6},  // 1: as stored
      {3, 2, 1, 6, 5, 4},  // 2: column 0 belongs to the right
      {6, 5, 4, 3, 2, 1},  // 3: row 0 to the bottom, column 0 to the right
      {4, 5, 6, 1, 2, 3},  // 4: row 0 to the bottom
      {1, 4, 2, 5, 3, 6},  // 5: row 0 to the left, column 0 to the top
      {4, 1, 5, 2, 6, 3},  // 6: row 0 to the right, column 0 to the top
      {6, 3, 5, 2, 4, 1},  // 7: row 0 to the right, column 0 to the bottom
      {3, 6, 2, 5, 1, 4},  // 8: row 0 to the left, column 0 to the bottom
  };
  for (int orientation = 1; orientation <= 8; ++orientation) {
    std::vector<uint8_t> stored;
    for (uint8_t i = 1; i <= 6; ++i) stored.insert(stored.end(), {i, i, i});
    SourceImage image = Make({2, 3}, PixelLayout::kRgb, stored);
    image.orientation = orientation;
    RgbConverter converter;
    ConversionCounts counts = {};
    RgbImage rgb = converter.Convert(image, &counts);
    EXPECT_EQ(rgb.size, orientation >= 5 ? (ImageSize{3, 2}) : (ImageSize{2, 3}));
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(rgb.pixels[3 * i], upright[static_cast<size_t>(orientation - 1)][i])
          << "orientation " << orientation << " pixel " << i;
    }
    EXPECT_EQ(counts[kOrientationApplied], orientation == 1 ? 0u : 1u);
  }
}

}  // namespace
}  // namespace shardmill
