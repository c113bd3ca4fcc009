#include "tools/pack/decode/jpeg_ink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace shardmill {
namespace {

std::vector<int> Convert(const std::vector<uint8_t>& ink, InkForm form) {
  std::vector<uint8_t> rgb(ink.size() / 4 * 3);
  ConvertInkToRgb(ink.data(), static_cast<int64_t>(ink.size() / 4), form, rgb.data());
  return {rgb.begin(), rgb.end()};
}

TEST(ConvertInkToRgb, PureInksAreTheirColors) {
  using testing::ElementsAre;
  EXPECT_THAT(Convert({0, 0, 0, 0}, InkForm::kAmount), ElementsAre(255, 255, 255));
  EXPECT_THAT(Convert({255, 0, 0, 0}, InkForm::kAmount), ElementsAre(0, 255, 255));
  EXPECT_THAT(Convert({0, 255, 0, 0}, InkForm::kAmount), ElementsAre(255, 0, 255));
  EXPECT_THAT(Convert({0, 0, 255, 0}, InkForm::kAmount), ElementsAre(255, 255, 0));
  EXPECT_THAT(Convert({0, 0, 0, 255}, InkForm::kAmount), ElementsAre(0, 0, 0));
}

TEST(ConvertInkToRgb, InvertedInkIsTheSameAsItsComplement) {
  const std::vector<uint8_t> ink = {10, 80, 200, 30, 255, 0, 127, 128};
  std::vector<uint8_t> inverted;
  for (const uint8_t amount : ink) inverted.push_back(static_cast<uint8_t>(255 - amount));
  EXPECT_EQ(Convert(ink, InkForm::kAmount), Convert(inverted, InkForm::kInverted));
}

TEST(ConvertInkToRgb, EveryPairIsTheRoundedProduct) {
  for (int color = 0; color < 256; ++color) {
    for (int black = 0; black < 256; ++black) {
      const std::vector<uint8_t> ink = {static_cast<uint8_t>(color), 0, 0,
                                        static_cast<uint8_t>(black)};
      const long expected = std::lround((255 - color) * (255 - black) / 255.0);
      ASSERT_EQ(Convert(ink, InkForm::kAmount)[0], expected) << color << " " << black;
    }
  }
}

}  // namespace
}  // namespace shardmill
