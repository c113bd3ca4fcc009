#include "tools/pack/decode/jpeg_fast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/imgcodecs.hpp>
#include <random>

#include "tests/tools/pack/decode/jpeg_builder.h"
#include "tools/pack/decode/jpeg_ink.h"

namespace shardmill {
namespace {

Result<std::vector<uint8_t>> Decode(JpegFastDecoder* decoder, const std::string& file,
                                    const JpegWindow& window, int scale_denominator = 1) {
  JpegOptions options;
  options.scale_denominator = scale_denominator;
  RETURN_IF_ERROR(decoder->Open(file, options));
  std::vector<uint8_t> pixels(window.height * window.width * decoder->header().channels);
  RETURN_IF_ERROR(decoder->ReadPixels(window, pixels.data()));
  return pixels;
}

Result<std::vector<uint8_t>> DecodeAll(JpegFastDecoder* decoder, const std::string& file) {
  RETURN_IF_ERROR(decoder->Open(file, JpegOptions()));
  const JpegHeader& header = decoder->header();
  return Decode(decoder, file, {0, 0, header.height, header.width});
}

// The window of a full decode; ink as RGB.
std::vector<uint8_t> Window(const WholeJpeg& image, const JpegWindow& window, bool adobe) {
  std::vector<uint8_t> pixels;
  for (int64_t y = window.top; y < window.top + window.height; ++y) {
    const auto row = image.samples.begin() + (y * image.width + window.left) * image.channels;
    pixels.insert(pixels.end(), row, row + window.width * image.channels);
  }
  if (image.channels < 4) return pixels;
  std::vector<uint8_t> rgb(pixels.size() / 4 * 3);
  ConvertInkToRgb(pixels.data(), window.height * window.width,
                  adobe ? InkForm::kInverted : InkForm::kAmount, rgb.data());
  return rgb;
}

std::vector<JpegSpec> AllKinds() {
  std::vector<JpegSpec> kinds;
  JpegSpec spec;
  for (const auto& [horizontal, vertical] :
       {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}, {1, 4}}) {
    for (const bool progressive : {false, true}) {
      spec.horizontal = horizontal;
      spec.vertical = vertical;
      spec.progressive = progressive;
      kinds.push_back(spec);
    }
  }
  spec = JpegSpec();
  spec.restart_interval = 2;
  kinds.push_back(spec);
  spec = JpegSpec();
  spec.arithmetic = true;
  kinds.push_back(spec);
  spec = JpegSpec();
  spec.unrefined = true;
  kinds.push_back(spec);
  for (const JpegColors colors :
       {JpegColors::kGray, JpegColors::kRgb, JpegColors::kCmyk, JpegColors::kYcck}) {
    for (const bool adobe : {false, true}) {
      spec = JpegSpec();
      spec.colors = colors;
      spec.adobe_marker = adobe;
      spec.horizontal = spec.vertical = colors == JpegColors::kYcck ? 2 : 1;
      if (adobe || ChannelsOf(colors) == 4) kinds.push_back(spec);
    }
  }
  return kinds;
}

std::string InWords(const JpegSpec& spec) {
  return std::to_string(spec.height) + " high, " + std::to_string(spec.width) + " wide, colours " +
         std::to_string(static_cast<int>(spec.colors)) + ", sampling " +
         std::to_string(spec.horizontal) + " " + std::to_string(spec.vertical) +
         (spec.progressive ? ", progressive" : "");
}

JpegWindow RandomWindow(int64_t height, int64_t width, std::mt19937* random) {
  JpegWindow window;
  window.height = 1 + (*random)() % height;
  window.width = 1 + (*random)() % width;
  window.top = (*random)() % (height - window.height + 1);
  window.left = (*random)() % (width - window.width + 1);
  return window;
}

void ExpectWindowsEqualFullDecode(const JpegSpec& spec, int scale_denominator, int windows) {
  std::mt19937 random(static_cast<uint32_t>(spec.height * 1000 + spec.width));
  const std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 1));
  const WholeJpeg whole = DecodeWhole(file, scale_denominator);
  JpegFastDecoder decoder;
  for (int i = 0; i < windows; ++i) {
    const JpegWindow window = i == 0 ? JpegWindow{0, 0, whole.height, whole.width}
                                     : RandomWindow(whole.height, whole.width, &random);
    const auto pixels = Decode(&decoder, file, window, scale_denominator);
    ASSERT_TRUE(pixels.ok()) << pixels.status().ToString() << InWords(spec);
    ASSERT_EQ(*pixels, Window(whole, window, spec.adobe_marker))
        << InWords(spec) << "; window of " << window.height << "×" << window.width << " at "
        << window.top << ", " << window.left << ", scale " << scale_denominator;
  }
}

class JpegKinds : public testing::TestWithParam<int> {
 protected:
  JpegSpec Spec(int height, int width) const {
    JpegSpec spec = AllKinds()[GetParam()];
    spec.height = height;
    spec.width = width;
    return spec;
  }
};

TEST_P(JpegKinds, AnyWindowEqualsThatOfAFullDecode) {
  for (const auto& [height, width] : {std::pair{1, 1}, {7, 9}, {8, 64}, {33, 17}, {64, 130}}) {
    ExpectWindowsEqualFullDecode(Spec(height, width), 1, 12);
    if (HasFatalFailure()) return;
  }
  ExpectWindowsEqualFullDecode(Spec(150, 211), 1, 25);
}

TEST_P(JpegKinds, EveryTopAndEveryLeftEqualThatOfAFullDecode) {
  const JpegSpec spec = Spec(75, 83);
  const std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 2));
  const WholeJpeg whole = DecodeWhole(file, 1);
  JpegFastDecoder decoder;
  for (int64_t at = 0; at < 70; ++at) {
    const JpegWindow window = {at, at, 75 - at > 9 ? 9 : 75 - at, 5};
    const auto pixels = Decode(&decoder, file, window);
    ASSERT_TRUE(pixels.ok()) << pixels.status().ToString();
    ASSERT_EQ(*pixels, Window(whole, window, spec.adobe_marker)) << InWords(spec) << " at " << at;
  }
}

TEST_P(JpegKinds, ScaledWindowsEqualThoseOfAScaledFullDecode) {
  for (const int scale : {2, 4, 8}) {
    ExpectWindowsEqualFullDecode(Spec(150, 211), scale, 6);
    ExpectWindowsEqualFullDecode(Spec(7, 9), scale, 5);
    if (HasFatalFailure()) return;
  }
}

TEST_P(JpegKinds, EveryCutIsDataLossWhateverTheWindow) {
  const JpegSpec spec = Spec(34, 30);
  const std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 3));
  JpegFastDecoder decoder;
  for (size_t size = 0; size < file.size(); ++size) {
    const std::string cut(file.data(), size);
    const JpegWindow window = size % 2 == 0 ? JpegWindow{0, 0, 34, 30} : JpegWindow{2, 3, 9, 10};
    const Status status = Decode(&decoder, cut, window).status();
    ASSERT_EQ(status.code(), StatusCode::kDataLoss)
        << size << " of " << file.size() << " bytes, " << InWords(spec);
  }
  EXPECT_TRUE(Decode(&decoder, file, {0, 0, 34, 30}).ok());
}

TEST_P(JpegKinds, ByteFlipsAreErrorsOrLeaveWindowAndWholeAlike) {
  const JpegSpec spec = Spec(20, 27);
  const std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 4));
  JpegFastDecoder decoder;
  for (size_t i = 0; i < file.size(); ++i) {
    std::string damaged = file;
    damaged[i] = static_cast<char>(damaged[i] ^ (i % 3 == 0 ? 0xff : 1 << i % 8));
    JpegOptions options;
    options.max_pixels = 1'000'000;
    if (!decoder.Open(damaged, options).ok()) continue;
    const JpegHeader header = decoder.header();
    std::vector<uint8_t> whole(header.height * header.width * header.channels);
    const bool whole_ok =
        decoder.ReadPixels({0, 0, header.height, header.width}, whole.data()).ok();
    ASSERT_TRUE(decoder.Open(damaged, options).ok());
    std::vector<uint8_t> corner(header.channels);
    const JpegWindow last = {header.height - 1, header.width - 1, 1, 1};
    ASSERT_EQ(decoder.ReadPixels(last, corner.data()).ok(), whole_ok) << i;
    if (whole_ok) {
      ASSERT_TRUE(std::equal(corner.begin(), corner.end(), whole.end() - header.channels)) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, JpegKinds, testing::Range(0, static_cast<int>(AllKinds().size())));

TEST(JpegFastDecoder, ColorsAndGrayAreWhatOpenCvDecodes) {
  JpegFastDecoder decoder;
  for (JpegSpec spec : AllKinds()) {
    if (ChannelsOf(spec.colors) == 4) continue;
    spec.height = 61;
    spec.width = 94;
    const std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 5));
    const auto pixels = DecodeAll(&decoder, file);
    ASSERT_TRUE(pixels.ok()) << pixels.status().ToString();
    const cv::Mat bytes(1, static_cast<int>(file.size()), CV_8U, const_cast<char*>(file.data()));
    cv::Mat image = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
    ASSERT_EQ(image.channels(), decoder.header().channels);
    std::vector<uint8_t> expected(image.data, image.data + image.total() * image.elemSize());
    if (image.channels() == 3) {
      for (size_t i = 0; i < expected.size(); i += 3) std::swap(expected[i], expected[i + 2]);
    }
    ASSERT_EQ(*pixels, expected) << InWords(spec);
  }
}

TEST(JpegFastDecoder, InkComesOutNearTheLightThatWentIn) {
  JpegFastDecoder decoder;
  for (const JpegColors colors : {JpegColors::kCmyk, JpegColors::kYcck}) {
    for (const bool adobe : {true, false}) {
      if (colors == JpegColors::kYcck && !adobe) continue;  // unreadable by anyone: no mark of YCCK
      JpegSpec spec;
      spec.height = spec.width = 16;
      spec.colors = colors;
      spec.adobe_marker = adobe;
      spec.horizontal = spec.vertical = 1;
      spec.quality = 100;
      // Orange: no cyan, half magenta, full yellow, no black.
      std::vector<uint8_t> ink;
      for (int i = 0; i < 256; ++i) {
        for (const int amount : {0, 128, 255, 0}) {
          ink.push_back(static_cast<uint8_t>(adobe ? 255 - amount : amount));
        }
      }
      const auto pixels = DecodeAll(&decoder, BuildJpeg(spec, ink));
      ASSERT_TRUE(pixels.ok()) << pixels.status().ToString();
      EXPECT_TRUE(decoder.header().was_cmyk);
      EXPECT_EQ(decoder.header().ink_inverted, adobe);
      EXPECT_NEAR((*pixels)[0], 255, 2);
      EXPECT_NEAR((*pixels)[1], 127, 2);
      EXPECT_NEAR((*pixels)[2], 0, 2);
    }
  }
}

TEST(JpegFastDecoder, OrientationIsReportedAndNotApplied) {
  JpegFastDecoder decoder;
  JpegSpec spec;
  spec.height = 10;
  spec.width = 20;
  const std::vector<uint8_t> pixels = MakeJpegPixels(spec, 6);
  const auto upright = DecodeAll(&decoder, BuildJpeg(spec, pixels));
  EXPECT_EQ(decoder.header().orientation, 1);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    spec.orientation = orientation;
    const auto decoded = DecodeAll(&decoder, BuildJpeg(spec, pixels));
    ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
    EXPECT_EQ(decoder.header().orientation, orientation);
    EXPECT_EQ(decoder.header().height, 10);
    EXPECT_EQ(*decoded, *upright);
  }
}

TEST(JpegFastDecoder, StrayBytesAreCountedAndHarmless) {
  JpegSpec spec;
  spec.height = spec.width = 32;
  const std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 7));
  JpegFastDecoder decoder;
  const auto clean = DecodeAll(&decoder, file);
  EXPECT_EQ(decoder.stray_bytes(), 0);
  EXPECT_EQ(*DecodeAll(&decoder, file + "12345"), *clean);
  EXPECT_EQ(decoder.stray_bytes(), 5);
  EXPECT_EQ(*DecodeAll(&decoder, WithBytesBeforeTheEnd(file, std::string(50, 'x'))), *clean);
  EXPECT_GT(decoder.stray_bytes(), 30);
}

TEST(JpegFastDecoder, TablesOfTheFileBeforeAreForgotten) {
  JpegSpec spec;
  spec.height = spec.width = 32;
  const std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 8));
  JpegFastDecoder decoder;
  ASSERT_TRUE(DecodeAll(&decoder, file).ok());
  // The first quantisation table becomes a comment.
  std::string without_tables = file;
  const size_t table = file.find("\xff\xdb");
  ASSERT_NE(table, std::string::npos);
  without_tables[table + 1] = '\xfe';
  EXPECT_EQ(DecodeAll(&decoder, without_tables).status().code(), StatusCode::kDataLoss);
}

TEST(JpegFastDecoder, WindowsOutsideTheImageAreRefused) {
  JpegSpec spec;
  spec.height = 10;
  spec.width = 20;
  const std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 9));
  JpegFastDecoder decoder;
  for (const JpegWindow& window : {JpegWindow{0, 0, 11, 20},
                                   {0, 0, 10, 21},
                                   {1, 0, 10, 20},
                                   {0, 1, 10, 20},
                                   {-1, 0, 5, 5},
                                   {0, -1, 5, 5},
                                   {0, 0, 0, 5},
                                   {0, 0, 5, 0},
                                   {10, 0, 1, 1},
                                   {0, 20, 1, 1}}) {
    std::vector<uint8_t> pixels(3000);
    ASSERT_TRUE(decoder.Open(file, JpegOptions()).ok());
    EXPECT_EQ(decoder.ReadPixels(window, pixels.data()).code(), StatusCode::kInvalidArgument);
  }
}

TEST(JpegFastDecoder, MorePixelsThanAllowedAreRefused) {
  JpegSpec spec;
  spec.height = 10;
  spec.width = 20;
  const std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 10));
  JpegFastDecoder decoder;
  JpegOptions options;
  options.max_pixels = 200;
  EXPECT_TRUE(decoder.Open(file, options).ok());
  options.max_pixels = 199;
  EXPECT_EQ(decoder.Open(file, options).code(), StatusCode::kInvalidArgument);
}

TEST(JpegFastDecoder, KindsThatCannotBeReadAreNoDamage) {
  JpegSpec spec;
  spec.height = spec.width = 16;
  std::string file = BuildJpeg(spec, MakeJpegPixels(spec, 11));
  const size_t frame = file.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  JpegFastDecoder decoder;
  std::string lossless = file;
  lossless[frame + 1] = '\xc3';
  EXPECT_EQ(decoder.Open(lossless, JpegOptions()).code(), StatusCode::kInvalidArgument);
  std::string twelve_bits = file;
  twelve_bits[frame + 4] = 12;
  Status status = decoder.Open(twelve_bits, JpegOptions());
  if (status.ok()) status = DecodeAll(&decoder, twelve_bits).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
}

TEST(JpegFastDecoder, EmptyAndForeignFilesAreDataLoss) {
  JpegFastDecoder decoder;
  for (const std::string& file : {std::string(), std::string("GIF89a"), std::string("\xff\xd8")}) {
    EXPECT_EQ(decoder.Open(file, JpegOptions()).code(), StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace shardmill
