#include "tools/dump/overlay.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

constexpr Rgb kGray = {100, 100, 100};
constexpr Rgb kRed = {200, 0, 0};
constexpr Rgb kBlue = {0, 0, 200};

ClassPalette RedAndBlue() {
  std::vector<ClassInfo> classes(2);
  classes[0].color = HexFromRgb(kRed);
  classes[1].color = HexFromRgb(kBlue);
  return ClassPalette(classes);
}

// Class 0 on the left half, class 1 on the right half.
LabelMap Halves(int height, int width) {
  LabelMap label;
  label.height = height;
  label.width = width;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) label.ids.push_back(x < width / 2 ? 0 : 1);
  }
  return label;
}

TEST(ColorizeLabel, EveryPixelHasTheColorOfItsClass) {
  const Picture picture = ColorizeLabel(Halves(2, 4), RedAndBlue());
  ASSERT_EQ(picture.height, 2);
  ASSERT_EQ(picture.width, 4);
  for (int y = 0; y < 2; ++y) {
    EXPECT_EQ(picture.at(y, 1), kRed);
    EXPECT_EQ(picture.at(y, 2), kBlue);
  }
}

TEST(OverlayLabel, InsideAClassImageAndColorAreMixed) {
  const Picture image(4, 8, kGray);
  const Picture picture = OverlayLabel(image, Halves(4, 8), RedAndBlue(), 0.5);
  EXPECT_EQ(picture.at(1, 1), (Rgb{150, 50, 50}));
  EXPECT_EQ(picture.at(1, 6), (Rgb{50, 50, 150}));
}

TEST(OverlayLabel, OutlinesAreOpaqueWhateverTheOpacity) {
  const Picture image(4, 8, kGray);
  const Picture picture = OverlayLabel(image, Halves(4, 8), RedAndBlue(), 0);
  EXPECT_EQ(picture.at(2, 3), kRed);  // its right neighbour is of the other class
  EXPECT_EQ(picture.at(2, 2), kGray);
  EXPECT_EQ(picture.at(2, 4), kGray);
}

TEST(OverlayLabel, LabelOfAnotherSizeIsStretchedOverTheImage) {
  const Picture image(6, 12, kGray);
  const Picture picture = OverlayLabel(image, Halves(2, 4), RedAndBlue(), 1);
  for (int x = 0; x < 12; ++x) EXPECT_EQ(picture.at(3, x), x < 6 ? kRed : kBlue) << x;
}

}  // namespace
}  // namespace shardmill
