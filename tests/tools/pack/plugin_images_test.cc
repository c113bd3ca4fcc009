// Files that the plug-in decodes, from beside the program.
#include <gtest/gtest.h>

#include <vector>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/decode/image_decode.h"
#include "tools/pack/decode/rgb_convert.h"

namespace shardmill {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 30;

std::vector<uint8_t> RgbOf(const std::string& file, ConversionCounts* counts) {
  SourceImage image;
  const Status status = ImageDecoder().Decode(file, kNoLimit, &image);
  EXPECT_TRUE(status.ok()) << status.ToString();
  if (!status.ok()) return {};
  RgbConverter converter;
  const RgbImage rgb = converter.Convert(image, counts);
  return std::vector<uint8_t>(rgb.pixels, rgb.pixels + rgb.size.pixels() * 3);
}

TEST(PluginImages, ChannelsComeInTheOrderOfRgb) {
  const TestImage image =
      MakeImage({64, 80}, 3, [](int, int, int channel) { return 90 * channel; });
  for (const std::string& file : {Webp(image), Jpeg2000(image)}) {
    ConversionCounts counts = {};
    const std::vector<uint8_t> rgb = RgbOf(file, &counts);
    ASSERT_EQ(rgb.size(), 64u * 80 * 3);
    for (size_t i = 0; i < rgb.size(); ++i) EXPECT_NEAR(rgb[i], 90.0 * (i % 3), 1);
    EXPECT_EQ(counts[kLevelsSpread], 0u);
  }
}

// A sample of half the brightness stays one, however many bits it has.
TEST(PluginImages, DeepJpeg2000KeepsItsBrightness) {
  const std::string file = Jpeg2000(MakeImage({64, 64}, 1, [](int, int, int) { return 128; }));
  for (int bits : {8, 9, 12, 15, 16}) {
    ConversionCounts counts = {};
    const std::vector<uint8_t> rgb = RgbOf(WithDepth(file, 1, bits - 1), &counts);
    ASSERT_EQ(rgb.size(), 64u * 64 * 3);
    for (uint8_t value : rgb) ASSERT_NEAR(value, 128, 1) << bits << " bits";
    EXPECT_EQ(counts[kLevelsSpread], bits == 8 || bits == 16 ? 0u : 1u) << bits;
  }
}

}  // namespace
}  // namespace shardmill
