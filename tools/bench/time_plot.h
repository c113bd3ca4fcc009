// A plot of stacked bars: where the time of each run went.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <string>
#include <vector>

#include "tools/dump/picture.h"

namespace shardmill {

struct StackedBar {
  std::string group;           // a heading above the first bar of each group
  std::string label;           // to the left of the bar
  std::vector<double> shares;  // per series; the bar is as long as their sum, at most 1
  std::string note;            // to the right of the bar
};

struct StackedSeries {
  std::string name;
  Rgb color;
};

struct StackedPlot {
  std::string title;
  std::string subtitle;
  std::vector<StackedSeries> series;
  std::vector<StackedBar> bars;
};

Picture DrawStackedPlot(const StackedPlot& plot);

}  // namespace shardmill
