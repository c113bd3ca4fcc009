#include "tools/pack/decode/png_decode.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/tools/pack/image_files.h"

namespace shardmill {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 30;

std::vector<uint16_t> Samples(const SourceImage& image) {
  std::vector<uint16_t> samples;
  const size_t width = static_cast<size_t>(image.sample_bytes);
  for (size_t i = 0; i < image.samples.size(); i += width) {
    uint16_t value = image.samples[i];
    if (width == 2) std::memcpy(&value, &image.samples[i], 2);
    samples.push_back(value);
  }
  return samples;
}

TEST(PngDecode, RgbSamplesAreInRgbOrder) {
  TestImage image =
      MakeImage({3, 5}, 3, [](int y, int x, int c) { return 50 * y + 7 * x + 90 * (c == 0); });
  SourceImage decoded;
  ASSERT_TRUE(DecodePng(Png(image), kNoLimit, &decoded).ok());
  EXPECT_EQ(decoded.layout, PixelLayout::kRgb);
  EXPECT_EQ(decoded.size, (ImageSize{3, 5}));
  EXPECT_EQ(Samples(decoded), image.samples);
  EXPECT_FALSE(decoded.has_transparency);
}

TEST(PngDecode, AlphaIsAFourthChannel) {
  TestImage image = MakeImage({4, 3}, 4, [](int y, int x, int c) { return 20 * y + 5 * x + c; });
  SourceImage decoded;
  ASSERT_TRUE(DecodePng(Png(image), kNoLimit, &decoded).ok());
  EXPECT_EQ(decoded.layout, PixelLayout::kRgba);
  EXPECT_TRUE(decoded.has_transparency);
  EXPECT_EQ(Samples(decoded), image.samples);
}

TEST(PngDecode, PaletteIndicesStayIndices) {
  std::vector<uint8_t> indices = {0, 1, 2, 1, 0, 2};
  SourceImage decoded;
  ASSERT_TRUE(
      DecodePng(PalettePng({2, 3}, indices, {0x0000FF, 0x0000FF, 0x10FF20}), kNoLimit, &decoded)
          .ok());
  EXPECT_EQ(decoded.layout, PixelLayout::kPalette);
  EXPECT_EQ(decoded.samples, indices);
  EXPECT_EQ(decoded.palette, (std::vector<uint32_t>{0x0000FF, 0x0000FF, 0x10FF20}));
}

TEST(PngDecode, OneBitGrayIsNotScaled) {
  TestImage image = MakeImage({5, 13}, 1, [](int y, int x, int) { return (x + y) % 2; });
  SourceImage decoded;
  ASSERT_TRUE(DecodePng(OneBitPng(image), kNoLimit, &decoded).ok());
  EXPECT_EQ(decoded.layout, PixelLayout::kGray);
  EXPECT_EQ(decoded.stored_bits, 1);
  EXPECT_EQ(Samples(decoded), image.samples);
}

TEST(PngDecode, SixteenBitValuesAreExact) {
  TestImage image =
      MakeImage({16, 256}, 1, [](int y, int x, int) { return 4096 * y + 16 * x + 9; });
  SourceImage decoded;
  ASSERT_TRUE(DecodePng(WidePng(image), kNoLimit, &decoded).ok());
  EXPECT_EQ(decoded.sample_bytes, 2);
  EXPECT_EQ(decoded.stored_bits, 16);
  EXPECT_EQ(Samples(decoded), image.samples);
}

TEST(PngDecode, EveryCutIsFound) {
  const std::string png = Png(Photo({9, 11}, 1));
  SourceImage decoded;
  for (size_t bytes = 0; bytes < png.size(); ++bytes) {
    Status status = DecodePng(png.substr(0, bytes), kNoLimit, &decoded);
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << "cut at " << bytes;
  }
  EXPECT_TRUE(DecodePng(png, kNoLimit, &decoded).ok());
}

// A flipped byte either is found or changes nothing: no damaged pixel goes through.
TEST(PngDecode, FlippedBytesNeverChangePixelsSilently) {
  TestImage image = Photo({9, 11}, 1);
  const std::string png = Png(image);
  for (size_t i = 8; i < png.size(); ++i) {
    std::string damaged = png;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    SourceImage decoded;
    if (DecodePng(damaged, kNoLimit, &decoded).ok()) {
      EXPECT_EQ(Samples(decoded), image.samples) << "byte " << i;
    }
  }
}

TEST(PngDecode, LargeTextIsSkipped) {
  TestImage image = Photo({4, 4}, 1);
  std::string png =
      WithChunk(Png(image), "tEXt", "Comment" + std::string(1, '\0') + std::string(10 << 20, 'x'));
  SourceImage decoded;
  ASSERT_TRUE(DecodePng(png, kNoLimit, &decoded).ok());
  EXPECT_EQ(Samples(decoded), image.samples);
}

TEST(PngDecode, BytesBehindTheEndAreNoted) {
  SourceImage decoded;
  ASSERT_TRUE(DecodePng(Png(Photo({4, 4}, 1)) + "more", kNoLimit, &decoded).ok());
  EXPECT_TRUE(decoded.had_stray_bytes);
}

TEST(PngDecode, LimitOfPixelsIsAUsageError) {
  SourceImage decoded;
  Status status = DecodePng(Png(Photo({10, 10}, 1)), 99, &decoded);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("10 high × 10 wide"), std::string::npos);
  EXPECT_TRUE(DecodePng(Png(Photo({10, 10}, 1)), 100, &decoded).ok());
}

TEST(PngDecode, ProbeReadsTheHeaderAlone) {
  std::string png = Png(Photo({7, 12}, 1));
  EXPECT_EQ(*ProbePng(png.substr(0, 33)), (ImageSize{7, 12}));
  EXPECT_FALSE(ProbePng(png.substr(0, 32)).ok());
}

}  // namespace
}  // namespace shardmill
