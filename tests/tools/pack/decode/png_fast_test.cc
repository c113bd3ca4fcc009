#include "tools/pack/decode/png_fast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/imgcodecs.hpp>
#include <random>

#include "tests/tools/pack/decode/png_builder.h"
#include "tests/tools/pack/decode/png_reference.h"

namespace shardmill {
namespace {

constexpr int64_t kMaxPixels = 1'000'000;

Result<std::vector<uint8_t>> Decode(PngFastDecoder* decoder, const std::string& file) {
  RETURN_IF_ERROR(decoder->Open(file, kMaxPixels));
  if (!decoder->NotHandled().empty()) return InvalidArgumentError(decoder->NotHandled());
  std::vector<uint8_t> pixels(decoder->layout().Bytes());
  RETURN_IF_ERROR(decoder->ReadPixels(pixels.data()));
  return pixels;
}

struct Kind {
  PngColorType color_type;
  int bit_depth;
};

std::vector<Kind> AllKinds() {
  std::vector<Kind> kinds;
  for (const int depth : {1, 2, 4, 8, 16}) kinds.push_back({PngColorType::kGray, depth});
  for (const int depth : {1, 2, 4, 8}) kinds.push_back({PngColorType::kPalette, depth});
  for (const PngColorType type :
       {PngColorType::kRgb, PngColorType::kGrayAlpha, PngColorType::kRgbAlpha}) {
    kinds.push_back({type, 8});
    kinds.push_back({type, 16});
  }
  return kinds;
}

PngSpec MakeSpec(const Kind& kind, int64_t height, int64_t width) {
  PngSpec spec;
  spec.height = height;
  spec.width = width;
  spec.color_type = kind.color_type;
  spec.bit_depth = kind.bit_depth;
  if (kind.color_type == PngColorType::kPalette) {
    for (int i = 0; i < (3 << kind.bit_depth); ++i) spec.palette += static_cast<char>(7 * i + 1);
  }
  return spec;
}

// OpenCV's channels in our order, its 8- and 16-bit samples as bytes. Empty where OpenCV changes
// the values: it spreads gray of less than 8 bits, and replaces palette and gray + alpha.
std::vector<uint8_t> DecodeWithOpenCv(const std::string& file, const Kind& kind) {
  if (kind.bit_depth < 8 || kind.color_type == PngColorType::kPalette ||
      kind.color_type == PngColorType::kGrayAlpha) {
    return {};
  }
  const cv::Mat bytes(1, static_cast<int>(file.size()), CV_8U, const_cast<char*>(file.data()));
  const cv::Mat image = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  std::vector<uint8_t> pixels(image.data, image.data + image.total() * image.elemSize());
  const size_t sample = image.elemSize1();
  if (image.channels() < 3) return pixels;
  for (size_t i = 0; i < pixels.size(); i += image.elemSize()) {
    for (size_t b = 0; b < sample; ++b) std::swap(pixels[i + b], pixels[i + 2 * sample + b]);
  }
  return pixels;
}

void ExpectAsOthersDecode(PngFastDecoder* decoder, const PngSpec& spec, const Kind& kind) {
  const std::string file = BuildPng(spec, MakeRows(spec, static_cast<uint32_t>(spec.width)));
  const auto pixels = Decode(decoder, file);
  ASSERT_TRUE(pixels.ok()) << pixels.status().ToString();
  const ReferencePng expected = ReadWithLibpng(file);
  ASSERT_TRUE(expected.ok);
  const PngPixelLayout layout = decoder->layout();
  ASSERT_EQ(layout.height, expected.height);
  ASSERT_EQ(layout.width, expected.width);
  ASSERT_EQ(layout.channels, expected.channels);
  ASSERT_EQ(layout.sample_bytes, expected.bit_depth == 16 ? 2 : 1);
  ASSERT_EQ(*pixels, expected.samples);
  const std::vector<uint8_t> opencv = DecodeWithOpenCv(file, kind);
  if (!opencv.empty()) {
    ASSERT_EQ(*pixels, opencv);
  }
}

TEST(PngFastDecoder, EveryKindFilterAndSizeDecodesAsLibpngAndOpenCvDo) {
  PngFastDecoder decoder;  // one for all: what an image leaves behind must not touch the next
  for (const Kind& kind : AllKinds()) {
    for (int64_t size = 1; size <= 70; ++size) {
      // All filters at every width and at varying heights; each filter alone as well.
      PngSpec spec = MakeSpec(kind, 1 + size * 11 % 23, size);
      spec.filters = {4, 3, 2, 1, 0, 4, 4, 4, 1, 2, 3};
      spec.zlib_level = static_cast<int>(size % 10);
      spec.chunk_bytes = size % 3 == 0 ? 100 : 1 << 20;
      ExpectAsOthersDecode(&decoder, spec, kind);
      spec.filters = {static_cast<int>(size % 5)};
      ExpectAsOthersDecode(&decoder, spec, kind);
      if (HasFatalFailure()) FAIL() << spec.width << " wide, depth " << spec.bit_depth;
    }
    for (const int64_t height : {2, 37, 70}) {
      ExpectAsOthersDecode(&decoder, MakeSpec(kind, height, 1), kind);
    }
  }
}

TEST(PngFastDecoder, LargeImageDecodesAsLibpngDoes) {
  const Kind kind = {PngColorType::kRgb, 8};
  PngSpec spec = MakeSpec(kind, 433, 701);
  spec.filters = {4, 4, 2, 4, 1, 4, 4, 3};
  PngFastDecoder decoder;
  ExpectAsOthersDecode(&decoder, spec, kind);
}

// A file around a zlib stream that need not be sound; the checksums of its chunks are right.
std::string FileAround(const std::string& zlib_stream, const PngSpec& spec) {
  std::string file = PngSignature() + PngHeader(spec);
  if (!spec.palette.empty()) file += PngChunk("PLTE", spec.palette);
  return file + PngImageData(zlib_stream, 40) + PngChunk("IEND", "");
}

// The part of dense rows that a window shows.
std::string CutOut(const std::vector<uint8_t>& pixels, int64_t row_bytes, int pixel_bytes,
                   const PngFastDecoder::Window& window) {
  std::string part;
  for (int64_t y = window.y; y < window.y + window.height; ++y) {
    part.append(
        reinterpret_cast<const char*>(pixels.data()) + y * row_bytes + window.x * pixel_bytes,
        static_cast<size_t>(window.width * pixel_bytes));
  }
  return part;
}

// Strips of the image end within groups of rows, and rows that are copied shift the groups.
TEST(PngFastDecoder, WindowsAreThePartsOfTheWholeImage) {
  std::mt19937 random(7);
  PngFastDecoder decoder;
  std::string part = "what was there before";
  for (const Kind& kind : AllKinds()) {
    if (kind.bit_depth != 8) continue;
    for (const int64_t width : {1, 9, 64, 333, 3100}) {
      PngSpec spec = MakeSpec(kind, 53, width);
      spec.filters = {4, 3, 2, 1, 0, 4, 4, 4, 1, 2, 3, 4, 4, 4, 4};
      const std::string file = BuildPng(spec, MakeRows(spec, 3));
      const auto pixels = Decode(&decoder, file);
      ASSERT_TRUE(pixels.ok()) << pixels.status().ToString();
      const int pixel_bytes = decoder.layout().channels;
      for (int i = 0; i < 8; ++i) {
        PngFastDecoder::Window window;
        window.height = 1 + random() % 53;
        window.width = i % 2 == 0 ? width : 1 + random() % width;
        window.y = random() % (53 - window.height + 1);
        window.x = random() % (width - window.width + 1);
        ASSERT_TRUE(decoder.Open(file, kMaxPixels).ok());
        ASSERT_TRUE(decoder.ReadWindow(window, &part).ok());
        ASSERT_TRUE(part == CutOut(*pixels, width * pixel_bytes, pixel_bytes, window))
            << width << " wide, " << pixel_bytes << " channels, window " << window.height
            << " from " << window.y;
      }
    }
  }
}

TEST(PngFastDecoder, DamageBehindAWindowIsFound) {
  PngSpec spec;
  spec.height = 3;
  spec.width = 5;
  std::string rows = FilterRows(spec, MakeRows(spec, 1));
  rows[12] = 5;
  const std::string file = FileAround(ZlibStream(rows, 6), spec);
  PngFastDecoder decoder;
  ASSERT_TRUE(decoder.Open(file, kMaxPixels).ok());
  std::string part;
  EXPECT_EQ(decoder.ReadWindow({0, 0, 1, 5}, &part).code(), StatusCode::kDataLoss);
}

TEST(PngFastDecoder, PaletteStaysAnIndexEvenBeyondThePalette) {
  PngSpec spec = MakeSpec({PngColorType::kPalette, 8}, 1, 4);
  spec.palette.resize(6);
  PngFastDecoder decoder;
  const auto pixels = Decode(&decoder, BuildPng(spec, {0, 1, 200, 255}));
  ASSERT_TRUE(pixels.ok()) << pixels.status().ToString();
  EXPECT_THAT(*pixels, testing::ElementsAre(0, 1, 200, 255));
  EXPECT_EQ(decoder.png().palette.size(), 2u);
}

TEST(PngFastDecoder, OtherDecodersFilesAreNamed) {
  PngSpec spec;
  PngFastDecoder decoder;
  spec.interlace = 1;
  ASSERT_TRUE(decoder.Open(BuildPng(spec, {7}), kMaxPixels).ok());
  EXPECT_EQ(decoder.NotHandled(), "interlaced");
  spec.chunks_before_pixels = PngChunk("acTL", "12345678");
  ASSERT_TRUE(decoder.Open(BuildPng(spec, {7}), kMaxPixels).ok());
  EXPECT_EQ(decoder.NotHandled(), "animated");
  spec = PngSpec();
  spec.transparency = "abc";
  ASSERT_TRUE(decoder.Open(BuildPng(spec, {7}), kMaxPixels).ok());
  EXPECT_THAT(decoder.NotHandled(), testing::HasSubstr("tRNS"));
}

TEST(PngFastDecoder, UnknownFilterIsDataLoss) {
  PngSpec spec;
  spec.height = 3;
  spec.width = 5;
  std::string rows = FilterRows(spec, MakeRows(spec, 1));
  rows[6] = 5;
  PngFastDecoder decoder;
  const auto pixels = Decode(&decoder, FileAround(ZlibStream(rows, 6), spec));
  EXPECT_EQ(pixels.status().code(), StatusCode::kDataLoss);
  EXPECT_THAT(pixels.status().message(), testing::HasSubstr("row 1"));
}

TEST(PngFastDecoder, RowsMissingOrTooManyAreDataLoss) {
  PngSpec spec;
  spec.height = 4;
  spec.width = 4;
  PngFastDecoder decoder;
  for (const int64_t rows_written : {3, 5}) {
    PngSpec written = spec;
    written.height = rows_written;
    const std::string stream = ZlibStream(FilterRows(written, MakeRows(written, 1)), 6);
    const auto pixels = Decode(&decoder, FileAround(stream, spec));
    EXPECT_EQ(pixels.status().code(), StatusCode::kDataLoss) << rows_written;
  }
}

class PngDamage : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    spec_ = MakeSpec(GetParam(), 9, 17);
    spec_.filters = {0, 1, 2, 3, 4, 4, 4, 4, 2};
    spec_.chunk_bytes = 60;
    file_ = BuildPng(spec_, MakeRows(spec_, 3));
    PngFastDecoder decoder;
    pixels_ = *Decode(&decoder, file_);
  }

  // The decoder is used again and again: an error must not spoil the next image either.
  void ExpectErrorOrSamePixels(const std::string& damaged) {
    const auto pixels = Decode(&decoder_, damaged);
    if (pixels.ok()) {
      ASSERT_EQ(*pixels, pixels_);
    }
  }

  PngSpec spec_;
  std::string file_;
  std::vector<uint8_t> pixels_;
  PngFastDecoder decoder_;
};

TEST_P(PngDamage, EveryCutIsDataLoss) {
  for (size_t size = 0; size < file_.size(); ++size) {
    const std::string cut(file_.data(), size);
    EXPECT_EQ(Decode(&decoder_, cut).status().code(), StatusCode::kDataLoss) << size;
  }
  EXPECT_TRUE(Decode(&decoder_, file_).ok());
}

TEST_P(PngDamage, EveryByteFlipIsAnErrorOrTheSamePixels) {
  for (size_t i = 0; i < file_.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = file_;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      ExpectErrorOrSamePixels(damaged);
    }
  }
  EXPECT_TRUE(Decode(&decoder_, file_).ok());
}

// Only the stream's Adler-32 is left to find this damage, and in so few bytes it misses some of
// it. What it misses must decode as libpng decodes it.
TEST_P(PngDamage, EveryFlipUnderRightChunkChecksumsIsAnErrorOrWhatLibpngReads) {
  const std::string stream = ZlibStream(FilterRows(spec_, MakeRows(spec_, 3)), 6);
  int found = 0;
  for (size_t i = 0; i < stream.size(); ++i) {
    for (const int flip : {0x01, 0x10, 0xff}) {
      std::string damaged = stream;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      const std::string file = FileAround(damaged, spec_);
      const auto pixels = Decode(&decoder_, file);
      if (!pixels.ok()) {
        ++found;
        continue;
      }
      const ReferencePng expected = ReadWithLibpng(file);
      ASSERT_TRUE(expected.ok) << i;
      ASSERT_EQ(*pixels, expected.samples) << i;
    }
  }
  EXPECT_GT(found, static_cast<int>(stream.size() * 3 * 9 / 10));
}

INSTANTIATE_TEST_SUITE_P(Kinds, PngDamage, testing::ValuesIn(AllKinds()));

}  // namespace
}  // namespace shardmill
