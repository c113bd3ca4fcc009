#include "reader/color_change.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/reader/each_instruction_set.h"

namespace shardmill {
namespace {

std::vector<uint8_t> Noise(uint64_t samples, std::mt19937_64* random) {
  std::vector<uint8_t> noise(samples);
  for (uint8_t& sample : noise) sample = static_cast<uint8_t>((*random)());
  return noise;
}

ColorChange AnyChange(std::mt19937_64* random) {
  ColorChange change;
  change.brightness_permille = static_cast<int32_t>((*random)() % 2001) - 1000;
  change.contrast_permille = static_cast<int32_t>((*random)() % 2001);
  change.saturation_permille = static_cast<int32_t>((*random)() % 2001);
  change.hue_millidegrees = static_cast<int32_t>((*random)() % 360001) - 180000;
  return change;
}

TEST(ColorChange, VectorsAgreeWithThePlainCodeOnEveryInstructionSet) {
  ForEachTarget([] {
    std::mt19937_64 random(3);
    for (int round = 0; round < 100; ++round) {
      ColorChange change = AnyChange(&random);
      if (round == 0) change = {1000, 2000, 2000, 120000};
      if (round == 1) change = {-1000, 2000, 2000, -60000};
      const ColorMap map = MakeColorMap(change, static_cast<int64_t>(random() % (255 << 16)), 255);
      std::vector<uint8_t> pixels = Noise(3 * 77, &random);
      std::vector<uint8_t> expected = pixels;
      MapColorsPlainly(map, 77, expected.data());
      MapColors(map, 77, pixels.data());
      ASSERT_EQ(pixels, expected);
    }
  });
}

TEST(ColorChange, SixteenBitsAreChangedLikeEight) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 100; ++round) {
    const ColorChange change = AnyChange(&random);
    const auto mean = static_cast<int64_t>(random() % (255 << 16));
    std::vector<uint8_t> narrow = Noise(3 * 50, &random);
    std::vector<uint16_t> wide;
    for (const uint8_t sample : narrow) wide.push_back(static_cast<uint16_t>(sample * 257));
    MapColors(MakeColorMap(change, mean, 255), 50, narrow.data());
    MapColors(MakeColorMap(change, mean * 257, 65535), 50, wide.data());
    for (size_t i = 0; i < narrow.size(); ++i) ASSERT_NEAR(wide[i] / 257.0, narrow[i], 0.51);
  }
}

TEST(ColorChange, AGrayImageIsChangedLikeGrayColours) {
  ColorChange change;
  change.brightness_permille = 50;
  change.contrast_permille = 1400;
  const ColorMap map = MakeColorMap(change, 100 << 16, 255);
  for (int level = 0; level < 256; ++level) {
    std::vector<uint8_t> color(3, static_cast<uint8_t>(level));
    uint8_t gray = static_cast<uint8_t>(level);
    MapColors(map, 1, color.data());
    MapGrays(map, 1, &gray);
    ASSERT_EQ(color, std::vector<uint8_t>(3, gray));
    const double expected = 100 + 1.4 * (level - 100) + 0.05 * 255;
    ASSERT_NEAR(gray, std::min(255.0, std::max(0.0, expected)), 0.51);
  }
}

}  // namespace
}  // namespace shardmill
