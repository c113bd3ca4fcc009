#include "tools/pack/decode/png_chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/pack/decode/exif_builder.h"
#include "tests/tools/pack/decode/png_builder.h"

namespace shardmill {
namespace {

constexpr int64_t kMaxPixels = 1'000'000;

PngSpec GraySpec() {
  PngSpec spec;
  spec.height = 4;
  spec.width = 6;
  return spec;
}

// The pieces of a gray file, to be put together in right and wrong ways.
struct Pieces {
  std::string start = PngSignature() + PngHeader(GraySpec());
  std::string pixels = PngImageData("pixels", 3);
  std::string end = PngChunk("IEND", "");
};

Status ReadStatus(const std::string& file) { return ReadPngChunks(file, kMaxPixels).status(); }

void ExpectDataLoss(const std::string& file, const std::string& words) {
  const Status status = ReadStatus(file);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status.ToString();
  EXPECT_THAT(status.message(), testing::HasSubstr(words));
}

TEST(ReadPngChunks, HeaderAndImageDataAreFound) {
  const Pieces p;
  const std::string file = p.start + p.pixels + p.end;
  const auto png = ReadPngChunks(file, kMaxPixels);
  ASSERT_TRUE(png.ok()) << png.status().ToString();
  EXPECT_EQ(png->height, 4);
  EXPECT_EQ(png->width, 6);
  EXPECT_EQ(png->color_type, PngColorType::kGray);
  EXPECT_THAT(png->image_data, testing::ElementsAre("pix", "els"));
  EXPECT_EQ(png->orientation, 1);
  EXPECT_EQ(png->trailing_bytes, 0);
}

TEST(ReadPngChunks, PaletteAndItsTransparencyAreRead) {
  PngSpec spec = GraySpec();
  spec.color_type = PngColorType::kPalette;
  spec.palette = "abcdef";
  spec.transparency = "\x07";
  const std::string file = BuildPng(spec, MakeRows(spec, 1));
  const auto png = ReadPngChunks(file, kMaxPixels);
  ASSERT_TRUE(png.ok()) << png.status().ToString();
  ASSERT_EQ(png->palette.size(), 2u);
  EXPECT_EQ(png->palette[0].blue, 'c');
  EXPECT_EQ(png->palette[0].alpha, 7);
  EXPECT_EQ(png->palette[1].red, 'd');
  EXPECT_EQ(png->palette[1].alpha, 255);
}

TEST(ReadPngChunks, TransparentColorOfGrayAndRgbIsRead) {
  PngSpec spec = GraySpec();
  spec.transparency = std::string("\x01\x02", 2);
  auto png = ReadPngChunks(BuildPng(spec, MakeRows(spec, 1)), kMaxPixels);
  ASSERT_TRUE(png.ok()) << png.status().ToString();
  EXPECT_TRUE(png->has_transparent_color);
  EXPECT_EQ(png->transparent_color[0], 0x102);
  spec.color_type = PngColorType::kRgb;
  spec.transparency = std::string("\0\1\0\2\0\3", 6);
  png = ReadPngChunks(BuildPng(spec, MakeRows(spec, 1)), kMaxPixels);
  ASSERT_TRUE(png.ok()) << png.status().ToString();
  EXPECT_THAT(png->transparent_color, testing::ElementsAre(1, 2, 3));
}

TEST(ReadPngChunks, OrientationOfTheExifChunkIsRead) {
  const Pieces p;
  const std::string exif = PngChunk("eXIf", BuildExif(6, ByteOrder::kBig));
  const auto png = ReadPngChunks(p.start + exif + p.pixels + p.end, kMaxPixels);
  ASSERT_TRUE(png.ok()) << png.status().ToString();
  EXPECT_EQ(png->orientation, 6);
}

TEST(ReadPngChunks, HugeTextIsSteppedOver) {
  const Pieces p;
  const std::string text = PngChunk("tEXt", std::string(10'000'000, 'x'));
  EXPECT_TRUE(ReadStatus(p.start + text + p.pixels + text + p.end).ok());
}

TEST(ReadPngChunks, TrailingBytesAreCounted) {
  const Pieces p;
  const std::string file = p.start + p.pixels + p.end + "12345";
  const auto png = ReadPngChunks(file, kMaxPixels);
  ASSERT_TRUE(png.ok());
  EXPECT_EQ(png->trailing_bytes, 5);
}

TEST(ReadPngChunks, AnimationAndInterlaceAreMarked) {
  const Pieces p;
  const std::string file = p.start + PngChunk("acTL", "12345678") + p.pixels + p.end;
  const auto animated = ReadPngChunks(file, kMaxPixels);
  ASSERT_TRUE(animated.ok());
  EXPECT_TRUE(animated->animated);
  PngSpec spec = GraySpec();
  spec.interlace = 1;
  const std::string interlaced = PngSignature() + PngHeader(spec) + p.pixels + p.end;
  EXPECT_TRUE(ReadPngChunks(interlaced, kMaxPixels)->interlaced);
}

TEST(ReadPngChunks, EveryCutIsDataLoss) {
  const Pieces p;
  const std::string whole = p.start + p.pixels + PngChunk("tEXt", "words") + p.end;
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(ReadStatus(std::string(whole.data(), size)).code(), StatusCode::kDataLoss) << size;
  }
}

TEST(ReadPngChunks, EveryBitFlipIsDataLoss) {
  const Pieces p;
  const std::string whole = p.start + p.pixels + PngChunk("tEXt", "words") + p.end;
  for (size_t i = 0; i < whole.size() * 8; ++i) {
    std::string flipped = whole;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ 1 << i % 8);
    EXPECT_EQ(ReadStatus(flipped).code(), StatusCode::kDataLoss) << i;
  }
}

TEST(ReadPngChunks, EmptyAndForeignFilesAreDataLoss) {
  ExpectDataLoss("", "empty");
  ExpectDataLoss("GIF89a, which is no PNG at all", "of another kind");
  ExpectDataLoss(PngSignature(), "cut");
}

TEST(ReadPngChunks, ChunksOutOfPlaceAreDataLoss) {
  const Pieces p;
  ExpectDataLoss(PngSignature() + p.pixels + p.end, "starts with a header chunk");
  ExpectDataLoss(p.start + p.end, "no IDAT");
  ExpectDataLoss(p.start + p.pixels + PngChunk("tEXt", "a") + p.pixels + p.end, "apart");
  ExpectDataLoss(p.start + p.pixels + PngChunk("IEND", "x"), "not empty");
  ExpectDataLoss(p.start + p.pixels + PngHeader(GraySpec()) + p.end, "IHDR");
  ExpectDataLoss(p.start + PngChunk("ABCD", "") + p.pixels + p.end, "ABCD");
}

TEST(ReadPngChunks, WrongPalettesAreDataLoss) {
  PngSpec spec = GraySpec();
  spec.color_type = PngColorType::kPalette;
  const std::string start = PngSignature() + PngHeader(spec);
  const Pieces p;
  const std::string palette = PngChunk("PLTE", "abcdef");
  EXPECT_TRUE(ReadStatus(start + palette + p.pixels + p.end).ok());
  ExpectDataLoss(start + p.pixels + p.end, "before any palette");
  ExpectDataLoss(start + palette + palette + p.pixels + p.end, "once");
  ExpectDataLoss(start + palette + p.pixels + palette + p.end, "before the pixels");
  ExpectDataLoss(start + PngChunk("PLTE", "abcde") + p.pixels + p.end, "entries of 3 bytes");
  ExpectDataLoss(start + PngChunk("PLTE", "") + p.pixels + p.end, "entries of 3 bytes");
  const std::string too_many(257 * 3, 'x');
  ExpectDataLoss(start + PngChunk("PLTE", too_many) + p.pixels + p.end, "entries of 3 bytes");
}

TEST(ReadPngChunks, OddButHarmlessChunksAreOddities) {
  const Pieces p;
  for (const std::string& chunk : {PngChunk("tRNS", "abc"), PngChunk("PLTE", "abc")}) {
    const std::string file = p.start + chunk + p.pixels + p.end;
    const auto png = ReadPngChunks(file, kMaxPixels);
    ASSERT_TRUE(png.ok()) << png.status().ToString();
    EXPECT_NE(png->oddity, "");
  }
}

TEST(ReadPngChunks, HeadersOutsideTheFormatAreDataLoss) {
  const Pieces p;
  for (const auto& [type, depth] : {std::pair{0, 3},
                                    {0, 0},
                                    {2, 4},
                                    {3, 16},
                                    {4, 1},
                                    {6, 32},
                                    {1, 8},
                                    {5, 8},
                                    {7, 8},
                                    {255, 255}}) {
    PngSpec spec = GraySpec();
    spec.color_type = static_cast<PngColorType>(type);
    spec.bit_depth = depth;
    ExpectDataLoss(PngSignature() + PngHeader(spec) + p.pixels + p.end, "colour type");
  }
  PngSpec spec = GraySpec();
  spec.interlace = 2;
  ExpectDataLoss(PngSignature() + PngHeader(spec) + p.pixels + p.end, "interlace 2");
}

TEST(ReadPngChunks, SizesOutsideTheFormatAreDataLoss) {
  const Pieces p;
  for (const auto& [height, width] :
       {std::pair<int64_t, int64_t>{0, 1}, {1, 0}, {0x80000000, 1}, {1, 0xffffffff}}) {
    PngSpec spec;
    spec.height = height;
    spec.width = width;
    ExpectDataLoss(PngSignature() + PngHeader(spec) + p.pixels + p.end, "no PNG can be");
  }
}

TEST(ReadPngChunks, MorePixelsThanAllowedAreRefused) {
  const Pieces p;
  const std::string file = p.start + p.pixels + p.end;
  EXPECT_TRUE(ReadPngChunks(file, 24).ok());
  EXPECT_EQ(ReadPngChunks(file, 23).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
