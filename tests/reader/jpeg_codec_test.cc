#include "reader/jpeg_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "reader/codec.h"
#include "tests/tools/pack/decode/jpeg_builder.h"

namespace shardmill {
namespace {

// Smooth colours, as JPEG is made for.
std::vector<uint8_t> Pixels(const JpegShape& shape) {
  std::vector<uint8_t> pixels;
  for (uint32_t y = 0; y < shape.height; ++y) {
    for (uint32_t x = 0; x < shape.width; ++x) {
      for (uint32_t c = 0; c < shape.channels; ++c) {
        const double wave = std::sin(0.11 * y + 0.07 * x * (c + 1));
        pixels.push_back(static_cast<uint8_t>(127 + 100 * wave));
      }
    }
  }
  return pixels;
}

double MeanError(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

std::string Encode(const JpegShape& shape, int quality) {
  std::string file;
  const Status status = EncodeJpeg(Pixels(shape).data(), shape, quality, &file);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return file;
}

// Into exactly as much memory as the shape needs, so that the sanitizer sees a byte too many.
Status Decode(const std::string& file, const JpegShape& shape, std::vector<uint8_t>* pixels) {
  pixels->assign(size_t{shape.height} * shape.width * shape.channels, 0);
  const std::vector<char> in(file.begin(), file.end());
  return DecodeJpeg(in.data(), in.size(), shape, pixels->data());
}

StatusCode DecodeCode(const std::string& file, const JpegShape& shape) {
  std::vector<uint8_t> pixels;
  return Decode(file, shape, &pixels).code();
}

TEST(JpegCodec, PicturesComeBackNearlyEqual) {
  for (const JpegShape& shape : {JpegShape{37, 51, 3}, JpegShape{16, 200, 1}, JpegShape{1, 1, 3}}) {
    std::vector<uint8_t> pixels;
    const std::string fine = Encode(shape, 95);
    ASSERT_TRUE(CheckJpegHeader(fine.data(), fine.size(), shape).ok());
    ASSERT_TRUE(Decode(fine, shape, &pixels).ok());
    EXPECT_LT(MeanError(pixels, Pixels(shape)), 2.0);
    EXPECT_LE(Encode(shape, 30).size(), fine.size());
    EXPECT_EQ(fine, Encode(shape, 95));
  }
}

TEST(JpegCodec, QualityNinetyKeepsColoursAtFullResolution) {
  const JpegShape shape = {64, 64, 3};
  std::vector<uint8_t> stripes;  // one pixel wide, of equal brightness
  for (int i = 0; i < 64 * 64; ++i) {
    const bool odd = i % 2 == 1;
    for (const int value : {odd ? 200 : 100, odd ? 100 : 151, 100}) {
      stripes.push_back(static_cast<uint8_t>(value));
    }
  }
  std::string halved, full;
  ASSERT_TRUE(EncodeJpeg(stripes.data(), shape, 89, &halved).ok());
  ASSERT_TRUE(EncodeJpeg(stripes.data(), shape, 90, &full).ok());
  std::vector<uint8_t> pixels;
  ASSERT_TRUE(Decode(halved, shape, &pixels).ok());
  const double halved_error = MeanError(pixels, stripes);
  ASSERT_TRUE(Decode(full, shape, &pixels).ok());
  EXPECT_GT(halved_error, 15.0);
  EXPECT_LT(MeanError(pixels, stripes), 5.0);
}

TEST(JpegCodec, ShapesThatNoJpegHasAreRefused) {
  std::string out;
  const std::vector<uint8_t> pixel(8);
  for (const JpegShape& shape : {JpegShape{0, 1, 3}, {1, 0, 3}, {1, 1, 2}, {1, 65501, 1}}) {
    EXPECT_EQ(EncodeJpeg(pixel.data(), shape, 90, &out).code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(EncodeJpeg(pixel.data(), {1, 1, 3}, 0, &out).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(EncodeJpeg(pixel.data(), {1, 1, 3}, 101, &out).code(), StatusCode::kInvalidArgument);
}

TEST(JpegCodec, OtherShapesThanTheFilesAreDataLoss) {
  const std::string file = Encode({20, 30, 3}, 90);
  for (const JpegShape& shape :
       {JpegShape{20, 31, 3}, {19, 30, 3}, {30, 20, 3}, {20, 30, 1}, {60, 10, 3}}) {
    EXPECT_EQ(DecodeCode(file, shape), StatusCode::kDataLoss);
    EXPECT_EQ(CheckJpegHeader(file.data(), file.size(), shape).code(), StatusCode::kDataLoss);
  }
}

TEST(JpegCodec, GrayFileFillsThreeChannels) {
  std::vector<uint8_t> gray, rgb;
  const std::string file = Encode({9, 14, 1}, 90);
  ASSERT_TRUE(Decode(file, {9, 14, 1}, &gray).ok());
  ASSERT_TRUE(Decode(file, {9, 14, 3}, &rgb).ok());
  for (size_t i = 0; i < rgb.size(); ++i) ASSERT_EQ(rgb[i], gray[i / 3]) << i;
}

TEST(JpegCodec, FilesOfOtherProgramsGiveThePixelsOfAPlainDecode) {
  for (const bool progressive : {false, true}) {
    for (const JpegColors colors : {JpegColors::kYcc, JpegColors::kRgb, JpegColors::kGray}) {
      JpegSpec spec;
      spec.height = 45;
      spec.width = 61;
      spec.colors = colors;
      spec.progressive = progressive;
      spec.restart_interval = progressive ? 0 : 3;
      const std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 7));
      const auto channels = static_cast<uint32_t>(ChannelsOf(colors));
      std::vector<uint8_t> pixels;
      ASSERT_TRUE(Decode(file, {45, 61, channels}, &pixels).ok());
      EXPECT_EQ(pixels, DecodeWhole(file, 1).samples);
    }
  }
}

TEST(JpegCodec, InkAndArithmeticCodingAreDataLoss) {
  JpegSpec spec;
  spec.height = 16;
  spec.width = 16;
  spec.colors = JpegColors::kCmyk;
  EXPECT_EQ(DecodeCode(BuildJpeg(spec, MakeJpegPixels(spec, 1)), {16, 16, 3}),
            StatusCode::kDataLoss);
  spec.colors = JpegColors::kYcc;
  spec.arithmetic = true;
  EXPECT_EQ(DecodeCode(BuildJpeg(spec, MakeJpegPixels(spec, 1)), {16, 16, 3}),
            StatusCode::kDataLoss);
}

TEST(JpegCodec, EveryCutIsDataLossAndEveryFlippedBitIsSafe) {
  const JpegShape shape = {24, 17, 3};
  for (const bool progressive : {false, true}) {
    JpegSpec spec;
    spec.height = 24;
    spec.width = 17;
    spec.progressive = progressive;
    const std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 3));
    ASSERT_EQ(DecodeCode(file, shape), StatusCode::kOk);
    // The end marker may be missing its second byte only.
    for (size_t bytes = 0; bytes + 2 < file.size(); ++bytes) {
      ASSERT_EQ(DecodeCode(file.substr(0, bytes), shape), StatusCode::kDataLoss) << bytes;
    }
    for (size_t bit = 0; bit < 8 * file.size(); bit += 3) {
      std::string damaged = file;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      const StatusCode code = DecodeCode(damaged, shape);
      ASSERT_TRUE(code == StatusCode::kOk || code == StatusCode::kDataLoss) << bit;
    }
  }
}

TEST(JpegCodec, HeaderThatSaysAHugePictureIsRefusedBeforeAnythingIsAllocated) {
  std::string file = Encode({24, 17, 3}, 90);
  const size_t frame = file.find("\xFF\xC0");
  ASSERT_NE(frame, std::string::npos);
  for (size_t i = 5; i < 9; ++i) file[frame + i] = '\xFE';  // 65278 × 65278: 12 GB
  EXPECT_EQ(DecodeCode(file, {24, 17, 3}), StatusCode::kDataLoss);
}

TEST(JpegField, VariableSidesMustBeThoseOfTheFile) {
  const FieldSpec spec = {"image", DType::kU8, {-1, -1, 3}, Codec::kJpeg, Role::kImage};
  const std::vector<uint8_t> pixels = Pixels({10, 20, 3});
  FieldEncoder encoder(EncodeOptions{3, 95});
  const auto field = encoder.Encode(spec, pixels.data(), pixels.size(), {10, 20});
  ASSERT_TRUE(field.ok()) << field.status().ToString();
  FieldDecoder decoder;
  std::vector<uint8_t> out(pixels.size());
  const auto decode = [&](const std::vector<uint32_t>& dims) {
    EXPECT_EQ(CheckStart(spec, dims, field->bytes.data(), field->bytes.size()).ok(),
              dims == std::vector<uint32_t>({10, 20}));
    return decoder.Decode(spec, field->bytes.data(), field->bytes.size(), out.data(), out.size(),
                          dims);
  };
  ASSERT_TRUE(decode({10, 20}).ok());
  EXPECT_LT(MeanError(out, pixels), 2.0);
  EXPECT_EQ(decode({20, 10}).code(), StatusCode::kDataLoss);  // the same number of bytes
  EXPECT_EQ(decode({10, 21}).code(), StatusCode::kDataLoss);
  EXPECT_EQ(decode({10}).code(), StatusCode::kDataLoss);
  EXPECT_EQ(encoder.Encode(spec, pixels.data(), 0, {0, 20}).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
