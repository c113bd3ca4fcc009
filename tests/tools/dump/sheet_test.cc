#include "tools/dump/sheet.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tools/dump/legend.h"

namespace shardmill {
namespace {

constexpr Rgb kImage = {10, 200, 90};

ClassPalette Palette() {
  std::vector<ClassInfo> classes(2);
  classes[0].color = 0x123456;
  classes[1].color = 0xfedcba;
  return ClassPalette(classes);
}

SheetCell Cell(int height, int width) {
  SheetCell cell;
  cell.image = Picture(height, width, kImage);
  cell.number = "#0";
  cell.caption = "some/picture.png";
  return cell;
}

LabelMap AllOf(int32_t id, int height, int width) {
  LabelMap label;
  label.height = height;
  label.width = width;
  label.ids.assign(static_cast<size_t>(height) * width, id);
  return label;
}

int64_t Count(const Picture& picture, Rgb color) {
  return std::count(picture.pixels.begin(), picture.pixels.end(), color);
}

TEST(DrawSheet, PictureStaysWithinTheWidth) {
  Sheet sheet;
  for (int i = 0; i < 13; ++i) sheet.cells.push_back(Cell(360, 480));
  const Picture picture = DrawSheet(sheet, Palette());
  EXPECT_LE(picture.width, sheet.most_width);
  EXPECT_GE(picture.width, sheet.most_width / 2);
  EXPECT_EQ(picture.pixels.size(), static_cast<size_t>(picture.width) * picture.height);
}

TEST(DrawSheet, EveryPixelOfASingleRecordIsShown) {
  Sheet sheet;
  sheet.cells.push_back(Cell(200, 300));
  const Picture picture = DrawSheet(sheet, Palette());
  EXPECT_EQ(Count(picture, kImage), 200 * 300);
}

TEST(DrawSheet, SmallImagesAreEnlargedByAWholeFactor) {
  Sheet sheet;
  sheet.cells.push_back(Cell(32, 32));
  const Picture picture = DrawSheet(sheet, Palette());
  EXPECT_EQ(Count(picture, kImage), 128 * 128);
}

TEST(DrawSheet, CellsOfNarrowPicturesHoldTheirCaptions) {
  Sheet sheet;
  for (int i = 0; i < 2; ++i) sheet.cells.push_back(Cell(32, 6));
  EXPECT_GE(DrawSheet(sheet, Palette()).width, 128 + 2 * 24);
}

TEST(DrawSheet, LabelIsDrawnBesideTheImage) {
  Sheet sheet;
  sheet.cells.push_back(Cell(200, 300));
  sheet.cells[0].label = AllOf(1, 200, 300);
  sheet.opacity = 1;
  const Picture pair = DrawSheet(sheet, Palette());
  EXPECT_EQ(Count(pair, kImage), 200 * 300);
  EXPECT_EQ(Count(pair, Palette().color(1)), 200 * 300);
  sheet.label_alone = true;
  EXPECT_EQ(Count(DrawSheet(sheet, Palette()), Palette().color(1)), 2 * 200 * 300);
}

TEST(DrawSheet, ImagesOfDifferentSizesShareOneGrid) {
  Sheet sheet;
  sheet.cells.push_back(Cell(100, 400));
  sheet.cells.push_back(Cell(400, 100));
  sheet.cells.push_back(Cell(1, 1));
  const Picture picture = DrawSheet(sheet, Palette());
  EXPECT_GT(Count(picture, kImage), 100 * 400);
}

TEST(DrawSheet, ExtremeShapesGivePicturesOfModestSize) {
  for (const auto& [height, width] : {std::pair{200'000, 1}, {1, 200'000}}) {
    Sheet sheet;
    sheet.cells.push_back(Cell(height, width));
    sheet.cells[0].label = AllOf(1, 1, 1);
    const Picture picture = DrawSheet(sheet, Palette());
    EXPECT_LE(picture.width, 2 * sheet.most_width);
    EXPECT_LE(picture.height, 3 * sheet.most_width);
  }
}

TEST(DrawSheet, LegendShowsEachClassInItsColor) {
  Sheet sheet;
  sheet.cells.push_back(Cell(200, 300));
  const int64_t without = Count(DrawSheet(sheet, Palette()), Palette().color(0));
  sheet.legend_title = "Classes";
  sheet.legend = {{0, "road", 0.75}, {1, "sky", 0.25}, {kIgnoredPixel, "ignored", std::nullopt}};
  const Picture picture = DrawSheet(sheet, Palette());
  EXPECT_EQ(without, 0);
  EXPECT_GE(Count(picture, Palette().color(0)), 100);
  EXPECT_GE(Count(picture, Palette().color(1)), 100);
}

TEST(DrawSheet, ClassIdIsDrawnAsASwatch) {
  Sheet sheet;
  sheet.cells.push_back(Cell(200, 300));
  sheet.cells[0].class_id = 1;
  sheet.cells[0].class_name = "bicycle";
  EXPECT_GE(Count(DrawSheet(sheet, Palette()), Palette().color(1)), 50);
}

TEST(DrawLegend, EntriesBeyondTheMostAreCountedNotDrawn) {
  std::vector<LegendEntry> entries(1000);
  for (LegendEntry& entry : entries) entry.name = "class";
  const Rgb paper = {255, 255, 255};
  const Picture legend = DrawLegend("Classes", entries, Palette(), 1000, paper);
  EXPECT_EQ(legend.width, 1000);
  EXPECT_LT(legend.height, 400);
}

TEST(DrawLegend, NarrowLegendHasOneColumn) {
  const std::vector<LegendEntry> entries(3, LegendEntry{0, "a very long class name", 0.5});
  const Picture legend = DrawLegend("Classes", entries, Palette(), 60, {255, 255, 255});
  EXPECT_EQ(legend.width, 60);
  EXPECT_GE(legend.height, 3 * 20);
}

}  // namespace
}  // namespace shardmill
