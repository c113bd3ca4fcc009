#include "tools/pack/annotations/drawn_shapes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace shardmill {
namespace {

// The pixels of the runs as rows of characters.
std::vector<std::string> Picture(const std::vector<PixelRun>& runs, ImageSize size) {
  std::vector<std::string> rows(size.height, std::string(size.width, '.'));
  for (const PixelRun& run : runs) {
    EXPECT_LT(run.row, size.height);
    EXPECT_LE(run.end, size.width);
    for (uint32_t x = run.begin; x < run.end; ++x) rows[run.row][x] = '#';
  }
  return rows;
}

using Rows = std::vector<std::string>;

TEST(DrawnShapes, PixelsWhoseCentreLiesInside) {
  const ImageSize size = {4, 6};
  EXPECT_EQ(Picture(*FillRings({{{1, 1}, {4, 1}, {4, 3}, {1, 3}}}, size), size),
            (Rows{"......", ".###..", ".###..", "......"}));
  // Half a pixel more or less moves no centre.
  EXPECT_EQ(Picture(*FillRings({{{0.6, 0.6}, {4.4, 0.6}, {4.4, 3.4}, {0.6, 3.4}}}, size), size),
            (Rows{"......", ".###..", ".###..", "......"}));
  EXPECT_EQ(Picture(*FillRings({{{0, 0}, {4, 0}, {0, 4}}}, size), size),
            (Rows{"###...", "##....", "#.....", "......"}));
}

TEST(DrawnShapes, NeighboursShareNoPixelAndLeaveNone) {
  const ImageSize size = {9, 9};
  const std::vector<Point> corners = {{0, 0}, {9, 0}, {9, 9}, {0, 9}};
  const Point inner = {4.3, 5.1};
  std::vector<int> counts(size.pixels());
  for (size_t i = 0; i < 4; ++i) {
    const std::vector<PixelRun> runs =
        *FillRings({{inner, corners[i], corners[(i + 1) % 4]}}, size);
    for (const PixelRun& run : runs) {
      for (uint32_t x = run.begin; x < run.end; ++x) ++counts[run.row * size.width + x];
    }
  }
  EXPECT_EQ(counts, std::vector<int>(size.pixels(), 1));
}

TEST(DrawnShapes, RingsMakeHolesAndWhatIsOutsideIsLeftOut) {
  const ImageSize size = {4, 5};
  EXPECT_EQ(Picture(*FillRings({{{-9, -9}, {99, -9}, {99, 99}, {-9, 99}},
                                {{1, 1}, {3, 1}, {3, 3}, {1, 3}}},
                               size),
                    size),
            (Rows{"#####", "#..##", "#..##", "#####"}));
  EXPECT_TRUE(FillRings({{{-9, -9}, {-3, -9}, {-3, -3}}}, size)->empty());
  EXPECT_TRUE(FillRings({{}, {{1, 1}}, {{1, 1}, {2, 2}}}, size)->empty());
}

TEST(DrawnShapes, CoordinatesThatAreNoNumbersAreRefused) {
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity(), 1e300}) {
    EXPECT_FALSE(FillRings({{{0, 0}, {bad, 1}, {2, 2}}}, {4, 5}).ok());
    EXPECT_FALSE(FillCircle({bad, 1}, 2, {4, 5}).ok());
    EXPECT_FALSE(FillCircle({1, 1}, bad, {4, 5}).ok());
  }
}

TEST(DrawnShapes, CirclesAreRound) {
  const ImageSize size = {5, 5};
  EXPECT_EQ(Picture(*FillCircle({2.5, 2.5}, 2.1, size), size),
            (Rows{"..#..", ".###.", "#####", ".###.", "..#.."}));
}

TEST(DrawnShapes, MasksAreMovedAndCut) {
  const ImageSize size = {3, 4};
  const std::vector<uint8_t> mask = {1, 0, 9, 0, 1, 1};
  EXPECT_EQ(Picture(RunsOfMask(mask, {2, 3}, 1, 2, size), size), (Rows{"....", "..#.", "...#"}));
  EXPECT_EQ(Picture(RunsOfMask(mask, {2, 3}, -1, -1, size), size), (Rows{"##..", "....", "...."}));
}

TEST(DrawnShapes, CountsOfCocoAreRead) {
  // Worked out by hand from the definition: differences from the fourth on, two characters where
  // five bits are too few.
  EXPECT_EQ(*ParseCocoCounts("61X13mN000`0"), (std::vector<uint64_t>{6, 1, 40, 4, 5, 4, 5, 4, 21}));
  EXPECT_EQ(*ParseCocoCounts(""), std::vector<uint64_t>());
  for (const char* damaged : {"X", "6 1", "zzzzzzzzzzzzzzzz", "6m"}) {
    EXPECT_FALSE(ParseCocoCounts(damaged).ok()) << damaged;
  }
  // A difference below zero.
  EXPECT_FALSE(ParseCocoCounts("111N").ok());
}

TEST(DrawnShapes, MasksFromCounts) {
  const ImageSize size = {2, 3};
  EXPECT_EQ(*MaskOfCounts({1, 2, 3}, size, RunOrder::kRows),
            (std::vector<uint8_t>{0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(*MaskOfCounts({1, 2, 3}, size, RunOrder::kColumns),
            (std::vector<uint8_t>{0, 1, 0, 1, 0, 0}));
  EXPECT_FALSE(MaskOfCounts({1, 2, 2}, size, RunOrder::kRows).ok());
  EXPECT_FALSE(MaskOfCounts({1, 6}, size, RunOrder::kRows).ok());
  EXPECT_FALSE(MaskOfCounts({UINT64_MAX, 2}, size, RunOrder::kRows).ok());
}

TEST(DrawnShapes, HigherLayersLieAbove) {
  ClassIdMap map;
  for (DType dtype : {DType::kU8, DType::kU16}) {
    map.dtype = dtype;
    DrawShapes({{7, 5, {{0, 0, 2}}}, {8, 1, {{0, 1, 3}}}, {9, 5, {{0, 0, 1}}}}, 3, {1, 4}, &map);
    std::vector<int> ids;
    for (size_t i = 0; i < map.bytes.size(); i += DTypeBytes(dtype)) ids.push_back(map.bytes[i]);
    EXPECT_EQ(ids, (std::vector<int>{9, 7, 8, 3}));
  }
}

}  // namespace
}  // namespace shardmill
