#include "tools/pack/decode/png_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace shardmill {
namespace {

std::vector<int> Unpack(std::vector<uint8_t> packed, int64_t width, int bit_depth) {
  std::vector<uint8_t> samples(width);
  UnpackPngBits(packed.data(), width, bit_depth, samples.data());
  return {samples.begin(), samples.end()};
}

TEST(UnpackPngBits, FirstSampleIsInTheHighestBits) {
  using testing::ElementsAre;
  EXPECT_THAT(Unpack({0b10110001, 0b01000000}, 10, 1), ElementsAre(1, 0, 1, 1, 0, 0, 0, 1, 0, 1));
  EXPECT_THAT(Unpack({0b10110001, 0b01000000}, 5, 2), ElementsAre(2, 3, 0, 1, 1));
  EXPECT_THAT(Unpack({0xb1, 0x40}, 3, 4), ElementsAre(11, 1, 4));
}

TEST(SwapPngSamples, BigEndianNumbersAreThisMachinesNumbers) {
  for (size_t count = 0; count <= 9; ++count) {
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < count; ++i) {
      bytes.push_back(static_cast<uint8_t>(i + 1));
      bytes.push_back(static_cast<uint8_t>(0xf0 + i));
    }
    SwapPngSamples(bytes.data(), count);
    for (size_t i = 0; i < count; ++i) {
      uint16_t sample;
      std::memcpy(&sample, bytes.data() + 2 * i, 2);
      EXPECT_EQ(sample, (i + 1) * 256 + 0xf0 + i);
    }
  }
}

TEST(ExpandPngPalette, IndexesBecomeColors) {
  const std::vector<PngPaletteEntry> palette = {{1, 2, 3, 255}, {4, 5, 6, 0}};
  const std::vector<uint8_t> indexes = {1, 0, 1};
  std::vector<uint8_t> rgb(9);
  ASSERT_TRUE(ExpandPngPalette(palette, indexes.data(), 3, rgb.data()).ok());
  EXPECT_THAT(rgb, testing::ElementsAre(4, 5, 6, 1, 2, 3, 4, 5, 6));
}

TEST(ExpandPngPalette, IndexBeyondThePaletteIsDataLoss) {
  const std::vector<PngPaletteEntry> palette = {{1, 2, 3, 255}, {4, 5, 6, 255}};
  const std::vector<uint8_t> indexes = {1, 2};
  std::vector<uint8_t> rgb(6);
  const Status status = ExpandPngPalette(palette, indexes.data(), 2, rgb.data());
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), testing::HasSubstr("index 2"));
  EXPECT_TRUE(ExpandPngPalette({}, nullptr, 0, nullptr).ok());
}

}  // namespace
}  // namespace shardmill
