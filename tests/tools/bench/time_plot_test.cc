#include "tools/bench/time_plot.h"

#include <gtest/gtest.h>

#include <map>

namespace shardmill {
namespace {

constexpr Rgb kRed = {200, 10, 10};
constexpr Rgb kBlue = {10, 10, 200};

StackedPlot PlotOf(std::vector<double> shares) {
  StackedPlot plot;
  plot.title = "Title";
  plot.subtitle = "subtitle";
  plot.series = {{"red", kRed}, {"blue", kBlue}};
  plot.bars = {{"group", "label", std::move(shares), "note"}};
  return plot;
}

int CountPixels(const Picture& picture, Rgb color) {
  int count = 0;
  for (const Rgb& pixel : picture.pixels) count += pixel == color;
  return count;
}

TEST(TimePlot, BarsAreAsLongAsTheirShares) {
  const Picture empty = DrawStackedPlot(PlotOf({0, 0}));
  const Picture picture = DrawStackedPlot(PlotOf({0.25, 0.75}));
  const int red = CountPixels(picture, kRed) - CountPixels(empty, kRed);
  const int blue = CountPixels(picture, kBlue) - CountPixels(empty, kBlue);
  EXPECT_GT(red, 1000);
  EXPECT_EQ(blue, 3 * red);
}

TEST(TimePlot, SharesBeyondTheWholeAreCutOff) {
  const Picture whole = DrawStackedPlot(PlotOf({0.5, 0.5}));
  const Picture beyond = DrawStackedPlot(PlotOf({0.5, 2}));
  EXPECT_EQ(CountPixels(whole, kBlue), CountPixels(beyond, kBlue));
  EXPECT_EQ(whole.width, beyond.width);
}

TEST(TimePlot, EachBarAndEachGroupTakesItsRow) {
  StackedPlot plot = PlotOf({1, 0});
  const int one = DrawStackedPlot(plot).height;
  plot.bars.push_back(plot.bars[0]);
  const int two = DrawStackedPlot(plot).height;
  plot.bars[1].group = "another group";
  const int two_groups = DrawStackedPlot(plot).height;
  EXPECT_GT(two, one);
  EXPECT_GT(two_groups, two);
}

}  // namespace
}  // namespace shardmill
