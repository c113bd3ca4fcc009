#include "tools/pack/image_decode.h"

#include <gtest/gtest.h>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/png_decode.h"

namespace shardmill {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 30;

void ExpectEqual(const SourceImage& a, const SourceImage& b) {
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.layout, b.layout);
  EXPECT_EQ(a.sample_bytes, b.sample_bytes);
  EXPECT_EQ(a.stored_bits, b.stored_bits);
  EXPECT_EQ(a.has_transparency, b.has_transparency);
  EXPECT_EQ(a.palette, b.palette);
  EXPECT_EQ(a.samples, b.samples);
}

// Interlaced files go through libpng, all others through the fast decoder: both must understand a
// file in the same way.
TEST(ImageDecode, BothPngDecodersAgree) {
  auto value = [](int y, int x, int c) { return (31 * y + 7 * x + 50 * c) % 256; };
  ImageDecoder decoder;
  for (const std::string& png :
       {Png(MakeImage({5, 9}, 1, value)), Png(MakeImage({5, 9}, 3, value)),
        Png(MakeImage({5, 9}, 4, value)), WidePng(MakeImage({5, 9}, 1, value)),
        WidePng(MakeImage({5, 9}, 3, value)),
        OneBitPng(MakeImage({5, 9}, 1, [](int y, int x, int) { return (x ^ y) & 1; })),
        PalettePng({2, 2}, {3, 0, 1, 2}, {0x112233, 0x445566, 0x112233, 0x778899})}) {
    SourceImage fast, slow;
    ASSERT_TRUE(decoder.Decode(png, kNoLimit, &fast).ok());
    ASSERT_TRUE(DecodePng(png, kNoLimit, &slow).ok());
    ExpectEqual(fast, slow);
  }
}

TEST(ImageDecode, OneObjectDecodesFilesOfAllKindsInTurn) {
  ImageDecoder decoder;
  SourceImage image;
  ASSERT_TRUE(
      decoder.Decode(PalettePng({1, 2}, {1, 0}, {0x010203, 0x040506}), kNoLimit, &image).ok());
  ASSERT_TRUE(
      decoder.Decode(WithOrientation(Jpeg(Photo({8, 16}, 1), 90), 6), kNoLimit, &image).ok());
  EXPECT_TRUE(image.palette.empty());
  EXPECT_EQ(image.orientation, 6);
  ASSERT_TRUE(decoder.Decode(Png(Photo({8, 16}, 1)), kNoLimit, &image).ok());
  EXPECT_EQ(image.orientation, 1);
  EXPECT_EQ(image.layout, PixelLayout::kRgb);
}

TEST(ImageDecode, EveryCutOfAPngIsFound) {
  const std::string png = Png(Photo({9, 11}, 1));
  ImageDecoder decoder;
  SourceImage image;
  for (size_t bytes = 0; bytes < png.size(); ++bytes) {
    EXPECT_EQ(decoder.Decode(png.substr(0, bytes), kNoLimit, &image).code(), StatusCode::kDataLoss)
        << "cut at " << bytes;
  }
}

TEST(ImageDecode, PaletteIndexBeyondThePaletteIsDamage) {
  // A palette of two colours put in the place of one of four.
  std::string png = PalettePng({1, 4}, {0, 1, 2, 3}, {1, 2, 3, 4});
  std::string small = PalettePng({1, 4}, {0, 1, 0, 1}, {1, 2});
  size_t data = png.find("IDAT") - 4, small_data = small.find("IDAT") - 4;
  ImageDecoder decoder;
  SourceImage decoded;
  Status status =
      decoder.Decode(small.substr(0, small_data) + png.substr(data), kNoLimit, &decoded);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status.ToString();
}

TEST(ImageDecode, UnknownContentIsNamed) {
  ImageDecoder decoder;
  SourceImage image;
  Status empty = decoder.Decode("", kNoLimit, &image);
  EXPECT_EQ(empty.code(), StatusCode::kDataLoss);
  EXPECT_NE(empty.message().find("an empty file"), std::string::npos);
  Status text = decoder.Decode("hello world", kNoLimit, &image);
  EXPECT_EQ(text.code(), StatusCode::kDataLoss);
  EXPECT_NE(text.message().find("68 65 6c 6c"), std::string::npos);
  EXPECT_EQ(decoder.Decode("GIF89a....", kNoLimit, &image).code(), StatusCode::kDataLoss);
}

TEST(ImageDecode, AnimatedPngIsRefused) {
  std::string animation("\0\0\0\x02\0\0\0\0", 8);
  ImageDecoder decoder;
  SourceImage image;
  Status status =
      decoder.Decode(WithChunk(Png(Photo({4, 4}, 1)), "acTL", animation), kNoLimit, &image);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("animated"), std::string::npos);
}

TEST(ImageDecode, ProbeGivesTheUprightSize) {
  EXPECT_EQ(*ProbeImageSize(Png(Photo({8, 16}, 1)), kNoLimit), (ImageSize{8, 16}));
  EXPECT_EQ(*ProbeImageSize(WithOrientation(Jpeg(Photo({8, 16}, 1), 90), 6), kNoLimit),
            (ImageSize{16, 8}));
  EXPECT_FALSE(ProbeImageSize("nonsense", kNoLimit).ok());
}

}  // namespace
}  // namespace shardmill
