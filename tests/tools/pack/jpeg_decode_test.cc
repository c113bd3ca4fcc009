#include "tools/pack/jpeg_decode.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/tools/pack/image_files.h"

namespace shardmill {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 30;

TEST(JpegDecode, ColorsAreInRgbOrder) {
  TestImage image = MakeImage({16, 16}, 3, [](int, int, int c) { return c == 0 ? 200 : 30; });
  SourceImage decoded;
  ASSERT_TRUE(DecodeJpeg(Jpeg(image, 95), kNoLimit, &decoded).ok());
  EXPECT_EQ(decoded.layout, PixelLayout::kRgb);
  EXPECT_NEAR(decoded.samples[0], 200, 4);
  EXPECT_NEAR(decoded.samples[1], 30, 4);
  EXPECT_NEAR(decoded.samples[2], 30, 4);
  EXPECT_EQ(decoded.orientation, 1);
}

TEST(JpegDecode, GrayStaysGray) {
  TestImage image = MakeImage({8, 9}, 1, [](int, int, int) { return 77; });
  SourceImage decoded;
  ASSERT_TRUE(DecodeJpeg(Jpeg(image, 90), kNoLimit, &decoded).ok());
  EXPECT_EQ(decoded.layout, PixelLayout::kGray);
  EXPECT_EQ(decoded.samples.size(), 72u);
  EXPECT_NEAR(decoded.samples[0], 77, 2);
}

TEST(JpegDecode, EveryCutIsFound) {
  const std::string jpeg = Jpeg(Photo({40, 40}, 1), 90);
  SourceImage decoded;
  for (size_t bytes = 0; bytes < jpeg.size(); ++bytes) {
    Status status = DecodeJpeg(jpeg.substr(0, bytes), kNoLimit, &decoded);
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << "cut at " << bytes << " of " << jpeg.size();
  }
  EXPECT_TRUE(DecodeJpeg(jpeg, kNoLimit, &decoded).ok());
}

TEST(JpegDecode, CutFileThatWasClosedIsFound) {
  const std::string jpeg = Jpeg(Photo({64, 64}, 1), 90);
  SourceImage decoded;
  Status status = DecodeJpeg(jpeg.substr(0, jpeg.size() / 2) + "\xff\xd9", kNoLimit, &decoded);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status.ToString();
}

TEST(JpegDecode, StrayBytesAreNoted) {
  const std::string jpeg = Jpeg(Photo({24, 24}, 1), 90);
  SourceImage decoded;
  ASSERT_TRUE(DecodeJpeg(jpeg, kNoLimit, &decoded).ok());
  EXPECT_FALSE(decoded.had_stray_bytes);
  ASSERT_TRUE(DecodeJpeg(jpeg + "trailer", kNoLimit, &decoded).ok());
  EXPECT_TRUE(decoded.had_stray_bytes);
}

TEST(JpegDecode, OrientationIsReportedAndProbed) {
  const std::string jpeg = Jpeg(Photo({24, 40}, 1), 90);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string tagged = WithOrientation(jpeg, orientation);
    SourceImage decoded;
    ASSERT_TRUE(DecodeJpeg(tagged, kNoLimit, &decoded).ok());
    EXPECT_EQ(decoded.orientation, orientation);
    EXPECT_EQ(decoded.size, (ImageSize{24, 40}));
    ImageSize upright = orientation >= 5 ? ImageSize{40, 24} : ImageSize{24, 40};
    EXPECT_EQ(*ProbeJpeg(tagged), upright);
  }
}

TEST(JpegDecode, LimitOfPixelsIsAUsageError) {
  SourceImage decoded;
  EXPECT_EQ(DecodeJpeg(Jpeg(Photo({10, 10}, 1), 90), 99, &decoded).code(),
            StatusCode::kInvalidArgument);
}

TEST(JpegDecode, FlippedBytesNeverCrash) {
  const std::string jpeg = Jpeg(Photo({32, 32}, 1), 80);
  for (size_t i = 0; i < jpeg.size(); ++i) {
    std::string damaged = jpeg;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xFF);
    SourceImage decoded;
    (void)DecodeJpeg(damaged, 1 << 20, &decoded).ok();
  }
}

}  // namespace
}  // namespace shardmill
