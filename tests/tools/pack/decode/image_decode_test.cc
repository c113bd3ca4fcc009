#include "tools/pack/decode/image_decode.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/decode/png_decode.h"
#include "tools/pack/decode/rgb_convert.h"

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

// A sample is what stands in the file, in text and in binary files alike; full brightness is the
// file's largest value.
TEST(ImageDecode, PnmFilesOfAnyLargestValueKeepTheirSamples) {
  struct Case {
    std::string file;
    int bits;
    uint32_t full;
    std::vector<uint16_t> samples;
    std::vector<uint8_t> rgb;  // of the first channel
  };
  const Case cases[] = {{"P2\n# two\n2 1\n1\n0 1", 1, 0, {0, 1}, {0, 255}},
                        {std::string("P5 2 1 1\n\0\1", 11), 1, 0, {0, 1}, {0, 255}},
                        {"P2 2 1 33\n7 33\n", 8, 33, {7, 33}, {54, 255}},
                        {"P5 2 1 33\n\x07!", 8, 33, {7, 33}, {54, 255}},
                        {"P2 2 1 255 7 255", 8, 0, {7, 255}, {7, 255}},
                        {"P3 1 1 100 100 50 0", 8, 100, {100, 50, 0}, {255}},
                        {std::string("P6 1 1 100\nd2\0", 14), 8, 100, {100, 50, 0}, {255}},
                        {"P2 2 1 1000 1000 500", 16, 1000, {1000, 500}, {255, 128}},
                        {"P5 2 1 1000\n\x03\xE8\x01\xF4", 16, 1000, {1000, 500}, {255, 128}},
                        {"P5 2 1 65535\n\xFF\xFF\x01\x02", 16, 0, {65535, 258}, {255, 1}},
                        {"P5\r\n2 1\r\n255\r\nab", 8, 0, {97, 98}, {97, 98}},
                        {"P5 2 1 255 # two\nab", 8, 0, {97, 98}, {97, 98}},
                        {"P5 2 1 255#\r\nab", 8, 0, {97, 98}, {97, 98}},
                        {"P5 2 1 255\n\nb", 8, 0, {10, 98}, {10, 98}},
                        {"P1 2 2 10\n0 1", 1, 0, {0, 1, 1, 0}, {0, 255, 255, 0}},
                        {"P4 9 1\n\xAA\x80", 1, 0, {0, 1, 0, 1, 0, 1, 0, 1, 0}, {0, 255}}};
  ImageDecoder decoder;
  for (const Case& each : cases) {
    SourceImage image;
    const Status status = decoder.Decode(each.file, kNoLimit, &image);
    ASSERT_TRUE(status.ok()) << each.file << status.ToString();
    EXPECT_EQ(image.stored_bits, each.bits) << each.file;
    EXPECT_EQ(image.full_level, each.full) << each.file;
    std::vector<uint16_t> samples;
    for (size_t i = 0; i < image.samples.size(); i += static_cast<size_t>(image.sample_bytes)) {
      uint16_t wide;
      std::memcpy(&wide, &image.samples[i], image.sample_bytes == 2 ? 2 : 1);
      samples.push_back(image.sample_bytes == 2 ? wide : image.samples[i]);
    }
    EXPECT_EQ(samples, each.samples) << each.file;
    RgbConverter converter;
    ConversionCounts counts = {};
    const RgbImage rgb = converter.Convert(image, &counts);
    for (size_t i = 0; i < each.rgb.size(); ++i) {
      EXPECT_EQ(rgb.pixels[3 * i], each.rgb[i]) << each.file;
    }
    EXPECT_EQ(counts[kLevelsSpread], each.full != 0 ? 1u : 0u) << each.file;
    // The next file of another format has none of it.
    ASSERT_TRUE(decoder.Decode(Png(Photo({2, 2}, 1)), kNoLimit, &image).ok());
    EXPECT_EQ(image.full_level, 0u);
  }
}

TEST(ImageDecode, DamagedPnmFilesAreErrors) {
  const std::pair<std::string, const char*> cases[] = {
      {"P2 2 1 7 7", "cut PNM file: 1 of its samples are missing"},
      {"P2 2 1 7 7 -7", "1 of its samples are missing or no numbers"},
      {"P1 2 1 1", "cut PNM file: 1 of its samples are missing"},
      {"P1 2 1 1 2", "1 of its samples are missing or no numbers"},
      {"P4 2 2\n\x80", "cut PNM file: 2 of its samples are missing"},
      {"P2 2 1 7 7 ", "cut PNM file: 1 of its samples are missing"},
      {"P5 2 1 255\nx", "cut PNM file: 1 of its samples are missing"},
      {"P2 2 1 7 7 8", "a sample of 8, where its header says 7 at most"},
      {"P5 2 1 7\n\x07\x08", "a sample of 8, where its header says 7 at most"},
      {"P2 2 1 7 7 x", "cut PNM file"},
      {"P2 0 1 7 7 7", "no usable width, height and maximum"},
      {"P2 2 1 70000 7 7", "no usable width, height and maximum"},
      {"P2 99999999999 1 7 7 7", "no usable width, height and maximum"},
      {"P5 ", "no usable width, height and maximum"},
      {"P6 4294967295 4294967295 255\nxxx", "is more than --max-pixels"}};
  ImageDecoder decoder;
  SourceImage image;
  for (const auto& [file, message] : cases) {
    const Status status = decoder.Decode(file, kNoLimit, &image);
    EXPECT_NE(status.message().find(message), std::string::npos) << file << status.ToString();
  }
  ASSERT_TRUE(decoder.Decode("P5 1 1 255\nxP5 1 1 255\nx", kNoLimit, &image).ok());
  EXPECT_TRUE(image.had_stray_bytes);
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

TEST(ImageDecode, EveryCutOfAJpegIsFoundWhateverThePart) {
  const std::string jpeg = Jpeg(Photo({40, 40}, 1), 90);
  ImageDecoder decoder;
  SourceImage image;
  for (size_t bytes = 0; bytes < jpeg.size(); ++bytes) {
    const std::string cut = jpeg.substr(0, bytes);
    Status status = decoder.Open(cut, kNoLimit).status();
    if (status.ok()) status = decoder.Read({0, 0, {bytes % 2 == 0 ? 40u : 3u, 5}}, &image).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << "cut at " << bytes << " of " << jpeg.size();
  }
  EXPECT_TRUE(decoder.Decode(jpeg, kNoLimit, &image).ok());
}

TEST(ImageDecode, CutJpegThatWasClosedIsFound) {
  const std::string jpeg = Jpeg(Photo({64, 64}, 1), 90);
  ImageDecoder decoder;
  SourceImage image;
  Status status = decoder.Decode(jpeg.substr(0, jpeg.size() / 2) + "\xff\xd9", kNoLimit, &image);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status.ToString();
}

TEST(ImageDecode, JpegColorsAreInRgbOrderAndGrayStaysGray) {
  ImageDecoder decoder;
  SourceImage image;
  TestImage red = MakeImage({16, 16}, 3, [](int, int, int c) { return c == 0 ? 200 : 30; });
  ASSERT_TRUE(decoder.Decode(Jpeg(red, 95), kNoLimit, &image).ok());
  EXPECT_EQ(image.layout, PixelLayout::kRgb);
  EXPECT_NEAR(image.samples[0], 200, 4);
  EXPECT_NEAR(image.samples[1], 30, 4);
  EXPECT_NEAR(image.samples[2], 30, 4);
  TestImage gray = MakeImage({8, 9}, 1, [](int, int, int) { return 77; });
  ASSERT_TRUE(decoder.Decode(Jpeg(gray, 90), kNoLimit, &image).ok());
  EXPECT_EQ(image.layout, PixelLayout::kGray);
  EXPECT_EQ(image.samples.size(), 72u);
  EXPECT_NEAR(image.samples[0], 77, 2);
}

TEST(ImageDecode, StrayBytesBehindAJpegAreNoted) {
  const std::string jpeg = Jpeg(Photo({24, 24}, 1), 90);
  ImageDecoder decoder;
  SourceImage image;
  ASSERT_TRUE(decoder.Decode(jpeg, kNoLimit, &image).ok());
  EXPECT_FALSE(image.had_stray_bytes);
  ASSERT_TRUE(decoder.Decode(jpeg + "trailer", kNoLimit, &image).ok());
  EXPECT_TRUE(image.had_stray_bytes);
}

TEST(ImageDecode, LimitOfPixelsIsAUsageError) {
  ImageDecoder decoder;
  SourceImage image;
  for (const std::string& file : {Jpeg(Photo({10, 10}, 1), 90), Png(Photo({10, 10}, 1))}) {
    EXPECT_EQ(decoder.Decode(file, 99, &image).code(), StatusCode::kInvalidArgument);
    EXPECT_TRUE(decoder.Decode(file, 100, &image).ok());
  }
}

// The region of a picture of three channels.
std::vector<uint8_t> Cut(const RgbImage& image, const Region& region) {
  std::vector<uint8_t> pixels;
  for (uint32_t y = 0; y < region.size.height; ++y) {
    const uint8_t* row = image.pixels + 3 * (uint64_t{region.y + y} * image.size.width + region.x);
    pixels.insert(pixels.end(), row, row + 3 * region.size.width);
  }
  return pixels;
}

TEST(ImageDecode, PartOfATurnedFileIsThatPartOfTheUprightPicture) {
  ImageDecoder decoder;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string jpeg = WithOrientation(Jpeg(Photo({50, 70}, 1), 90), orientation);
    SourceImage whole, image;
    RgbConverter whole_converter, converter;
    ConversionCounts counts = {};
    ASSERT_TRUE(decoder.Decode(jpeg, kNoLimit, &whole).ok());
    const RgbImage upright = whole_converter.Convert(whole, &counts);
    for (const Region& needed : {Region{0, 0, {1, 1}}, Region{3, 20, {11, 17}},
                                 Region{41, 9, {9, 40}}, Region{0, 0, upright.size}}) {
      ASSERT_EQ(*decoder.Open(jpeg, kNoLimit), upright.size);
      const Result<Region> part = decoder.Read(needed, &image);
      ASSERT_TRUE(part.ok()) << part.status().ToString();
      EXPECT_EQ(part->y, needed.y);
      EXPECT_EQ(part->x, needed.x);
      ASSERT_EQ(part->size, needed.size);
      const RgbImage rgb = converter.Convert(image, &counts);
      ASSERT_EQ(rgb.size, needed.size);
      EXPECT_EQ(Cut(rgb, {0, 0, rgb.size}), Cut(upright, needed)) << orientation;
    }
  }
}

TEST(ImageDecode, OtherFormatsComeWhole) {
  ImageDecoder decoder;
  SourceImage image;
  const std::string png = Png(Photo({9, 11}, 1));
  ASSERT_EQ(*decoder.Open(png, kNoLimit), (ImageSize{9, 11}));
  const Result<Region> part = decoder.Read({2, 3, {4, 5}}, &image);
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->y, 0u);
  EXPECT_EQ(part->x, 0u);
  EXPECT_EQ(part->size, (ImageSize{9, 11}));
  EXPECT_EQ(image.samples.size(), 9u * 11 * 3);
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

TEST(ImageDecode, SeveralPagesAreRefused) {
  ImageDecoder decoder;
  SourceImage image;
  const std::string file = Tiff({Photo({4, 4}, 1), Photo({4, 4}, 2)});
  const Status status = decoder.Decode(file, kNoLimit, &image);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("several pages"), std::string::npos) << status.ToString();
}

TEST(ImageDecode, SamplesOfPngAndJpegAreStoredValues) {
  ImageDecoder decoder;
  for (const std::string& file :
       {PalettePng({1, 2}, {1, 0}, {0x010203, 0x040506}),
        OneBitPng(MakeImage({2, 2}, 1, [](int y, int, int) { return y; })),
        Jpeg(Photo({8, 8}, 1), 90)}) {
    ASSERT_TRUE(decoder.Open(file, kNoLimit).ok());
    EXPECT_TRUE(decoder.CheckStoredValues().ok());
  }
}

TEST(ImageDecode, ProbeGivesTheUprightSize) {
  EXPECT_EQ(*ProbeImageSize(Png(Photo({8, 16}, 1)), kNoLimit), (ImageSize{8, 16}));
  EXPECT_EQ(*ProbeImageSize(WithOrientation(Jpeg(Photo({8, 16}, 1), 90), 6), kNoLimit),
            (ImageSize{16, 8}));
  const std::string png = Png(Photo({8, 16}, 1));
  EXPECT_EQ(*ProbeImageSize(WithChunk(png, "eXIf", ExifOf(6)), kNoLimit), (ImageSize{16, 8}));
  EXPECT_EQ(*ProbeImageSize(WithLateChunk(png, "eXIf", ExifOf(8)), kNoLimit), (ImageSize{16, 8}));
  EXPECT_EQ(*ProbeImageSize(WithChunk(png, "eXIf", ExifOf(3)), kNoLimit), (ImageSize{8, 16}));
  EXPECT_FALSE(ProbeImageSize("nonsense", kNoLimit).ok());
}

}  // namespace
}  // namespace shardmill
