#include "tools/dump/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace shardmill {
namespace {

std::vector<ClassInfo> Classes(int count) {
  std::vector<ClassInfo> classes(count);
  for (int i = 0; i < count; ++i) classes[i].id = static_cast<uint32_t>(i);
  return classes;
}

int Distance(Rgb x, Rgb y) {
  return std::abs(x.red - y.red) + std::abs(x.green - y.green) + std::abs(x.blue - y.blue);
}

int SmallestDistance(const std::vector<Rgb>& colors) {
  int smallest = 3 * 255;
  for (size_t i = 0; i < colors.size(); ++i) {
    for (size_t j = 0; j < i; ++j) smallest = std::min(smallest, Distance(colors[i], colors[j]));
  }
  return smallest;
}

TEST(CompleteColors, TableColorsAreKept) {
  std::vector<ClassInfo> classes = Classes(3);
  classes[0].color = 0x804020;
  classes[2].color = 0x804021;
  const std::vector<Rgb> colors = CompleteColors(classes);
  ASSERT_EQ(colors.size(), 3u);
  EXPECT_EQ(colors[0], (Rgb{0x80, 0x40, 0x20}));
  EXPECT_EQ(colors[2], (Rgb{0x80, 0x40, 0x21}));
}

TEST(CompleteColors, GeneratedColorsAreFarFromEachOtherAndFromTheTable) {
  std::vector<ClassInfo> classes = Classes(21);
  classes[4].color = 0x2e86de;  // the colour that would be generated first
  const std::vector<Rgb> colors = CompleteColors(classes);
  EXPECT_GE(SmallestDistance(colors), 48);
}

TEST(CompleteColors, SameInputGivesSameColors) {
  EXPECT_EQ(CompleteColors(Classes(40)), CompleteColors(Classes(40)));
}

TEST(CompleteColors, FirstColorsDoNotDependOnTheNumberOfClasses) {
  const std::vector<Rgb> few = CompleteColors(Classes(5));
  const std::vector<Rgb> many = CompleteColors(Classes(100));
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

TEST(CompleteColors, ThousandsOfClassesAllGetAColor) {
  const std::vector<Rgb> colors = CompleteColors(Classes(5000));
  ASSERT_EQ(colors.size(), 5000u);
  std::set<uint32_t> different;
  for (const Rgb color : colors) different.insert(HexFromRgb(color));
  EXPECT_EQ(different.size(), 256u);
}

TEST(CompleteColors, NoClassesGiveNoColors) { EXPECT_TRUE(CompleteColors({}).empty()); }

TEST(ClassPalette, IgnoredPixelsAreHatchedInTwoGrays) {
  const ClassPalette palette(Classes(3));
  std::set<uint32_t> colors;
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 16; ++x) {
      const Rgb color = palette.ColorAt(kIgnoredPixel, y, x);
      EXPECT_LT(std::abs(color.red - color.blue), 8);
      colors.insert(HexFromRgb(color));
    }
  }
  EXPECT_EQ(colors.size(), 2u);
}

TEST(ClassPalette, IdsOutsideTheTableAreMagentaAndBlack) {
  const ClassPalette palette(Classes(3));
  for (const int32_t id : {3, 255, 1 << 30, kSeveralClasses}) {
    std::set<uint32_t> colors;
    for (int x = 0; x < 16; ++x) colors.insert(HexFromRgb(palette.ColorAt(id, 0, x)));
    EXPECT_EQ(colors, (std::set<uint32_t>{0x000000, 0xff00ff})) << id;
  }
}

TEST(ClassPalette, ClassesAreSolid) {
  const ClassPalette palette(Classes(3));
  for (int x = 0; x < 16; ++x) EXPECT_EQ(palette.ColorAt(2, 5, x), palette.color(2));
}

}  // namespace
}  // namespace shardmill
