#include "tools/dump/drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace shardmill {
namespace {

constexpr Rgb kWhite = {255, 255, 255};
constexpr Rgb kBlack = {0, 0, 0};

int64_t CountNot(const Picture& picture, Rgb color) {
  return std::count_if(picture.pixels.begin(), picture.pixels.end(),
                       [color](Rgb pixel) { return pixel != color; });
}

TEST(DrawText, InkStaysWithinTheMeasuredWidthAndAroundTheBaseline) {
  const TextStyle style = {10, kBlack, false};
  Picture picture(40, 300, kWhite);
  DrawText("road", 25, 20, style, &picture);
  EXPECT_GT(CountNot(picture, kWhite), 40);
  const int right = 20 + TextWidth("road", style) + 2;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const bool inside = x >= 20 && x <= right && y >= 10 && y <= 33;
      if (inside) continue;
      ASSERT_EQ(picture.at(y, x), kWhite) << y << " " << x;
    }
  }
}

TEST(DrawText, TextBeyondTheEdgesIsCutOff) {
  Picture picture(12, 12, kWhite);
  for (const int left : {-200, -5, 8, 400}) {
    for (const int baseline : {-50, 0, 6, 500}) {
      DrawText("pavement", baseline, left, TextStyle(), &picture);
    }
  }
  DrawText("", 5, 5, TextStyle(), &picture);
  EXPECT_EQ(picture.pixels.size(), 144u);
}

TEST(DrawText, LatinLettersLoseTheirAccentsAndOthersBecomeQuestionMarks) {
  const TextStyle style;
  EXPECT_EQ(FitTextEnd("Stra\xc3\x9f"
                       "e \xc3\xa9t\xc3\xa9 5\xc3\x97",
                       1000, style),
            "Strase ete 5x");
  EXPECT_EQ(FitTextEnd("\xe9\x81\x93\xe8\xb7\xaf\n", 1000, style), "???");
  EXPECT_EQ(FitTextEnd("cut \xc3", 1000, style), "cut ?");
}

TEST(FitTextEnd, ShortTextIsUnchangedAndLongTextKeepsItsEnd) {
  const TextStyle style;
  EXPECT_EQ(FitTextEnd("a.png", 1000, style), "a.png");
  const std::string fitted = FitTextEnd("train/some/long/path/0016E5_00390.png", 150, style);
  EXPECT_THAT(fitted, testing::StartsWith("..."));
  EXPECT_THAT(fitted, testing::EndsWith("390.png"));
  EXPECT_LE(TextWidth(fitted, style), 150);
}

TEST(FillBox, BoxesBeyondTheEdgesAreCutOff) {
  Picture picture(4, 4, kWhite);
  FillBox(-3, -3, 5, 5, kBlack, &picture);
  EXPECT_EQ(CountNot(picture, kWhite), 4);
  FillBox(10, 10, 5, 5, kBlack, &picture);
  EXPECT_EQ(CountNot(picture, kWhite), 4);
}

TEST(Paste, PictureBeyondTheEdgesIsCutOff) {
  Picture picture(4, 4, kWhite);
  Paste(Picture(3, 3, kBlack), 2, -1, &picture);
  EXPECT_EQ(CountNot(picture, kWhite), 4);
  EXPECT_EQ(picture.at(3, 1), kBlack);
}

TEST(Scale, GrowingRepeatsPixelsAndShrinkingAveragesThem) {
  Picture picture(1, 2, kWhite);
  picture.at(0, 0) = kBlack;
  const Picture large = Scale(picture, 3, 6);
  EXPECT_EQ(large.at(2, 2), kBlack);
  EXPECT_EQ(large.at(2, 3), kWhite);
  const Picture small = Scale(large, 1, 1);
  EXPECT_NEAR(small.at(0, 0).red, 128, 1);
}

}  // namespace
}  // namespace shardmill
