#include "tools/bench/time_plot.h"

#include <algorithm>
#include <cstdio>

#include "tools/dump/drawing.h"

namespace shardmill {
namespace {

constexpr Rgb kPaper = {250, 250, 248};
constexpr Rgb kAxis = {214, 214, 210};
constexpr TextStyle kTitle = {15, {20, 20, 24}, true};
constexpr TextStyle kSubtitle = {10, {96, 96, 104}, false};
constexpr TextStyle kGroup = {10, {20, 20, 24}, true};
constexpr TextStyle kText = {9, {50, 50, 56}, false};
constexpr TextStyle kTick = {8, {130, 130, 138}, false};
constexpr int kMargin = 24;
constexpr int kBarLength = 560;
constexpr int kBarHeight = 14;
constexpr int kBarGap = 6;
constexpr int kGroupHeight = 30;
constexpr int kTitleHeight = 58;
constexpr int kLegendHeight = 26;
constexpr int kAxisHeight = 20;
constexpr int kTextGap = 10;
constexpr int kSwatch = 12;
constexpr int kTicks = 4;

struct Layout {
  int left = 0;  // of the bars
  int top = 0;   // of the first group
  int height = 0;
  int width = 0;
};

bool StartsGroup(const StackedPlot& plot, size_t bar) {
  return bar == 0 || plot.bars[bar].group != plot.bars[bar - 1].group;
}

int LegendWidth(const StackedPlot& plot) {
  int width = 0;
  for (const StackedSeries& series : plot.series) {
    width += kSwatch + 6 + TextWidth(series.name, kText) + 2 * kTextGap;
  }
  return width;
}

Layout MakeLayout(const StackedPlot& plot) {
  int labels = 0;
  int notes = 0;
  int bars = 0;
  for (size_t bar = 0; bar < plot.bars.size(); ++bar) {
    labels = std::max(labels, TextWidth(plot.bars[bar].label, kText));
    notes = std::max(notes, TextWidth(plot.bars[bar].note, kText));
    bars += kBarHeight + kBarGap + (StartsGroup(plot, bar) ? kGroupHeight : 0);
  }
  Layout layout;
  layout.left = kMargin + labels + kTextGap;
  layout.top = kMargin + kTitleHeight + kLegendHeight;
  layout.height = layout.top + bars + kAxisHeight + kMargin;
  layout.width = layout.left + kBarLength + kTextGap + notes + kMargin;
  const int text = std::max(
      {TextWidth(plot.title, kTitle), TextWidth(plot.subtitle, kSubtitle), LegendWidth(plot)});
  layout.width = std::max(layout.width, text + 2 * kMargin);
  return layout;
}

void DrawHead(const StackedPlot& plot, Picture* picture) {
  DrawText(plot.title, kMargin + kTitle.height, kMargin, kTitle, picture);
  DrawText(plot.subtitle, kMargin + 40, kMargin, kSubtitle, picture);
  int left = kMargin;
  const int top = kMargin + kTitleHeight;
  for (const StackedSeries& series : plot.series) {
    FillBox(top, left, kSwatch, kSwatch, series.color, picture);
    left += kSwatch + 6;
    DrawText(series.name, top + kSwatch - 1, left, kText, picture);
    left += TextWidth(series.name, kText) + 2 * kTextGap;
  }
}

void DrawAxis(const Layout& layout, Picture* picture) {
  const int bottom = layout.height - kMargin - kAxisHeight;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const int x = layout.left + kBarLength * tick / kTicks;
    FillBox(layout.top, x, bottom - layout.top, 1, kAxis, picture);
    const std::string text = std::to_string(100 * tick / kTicks) + "%";
    DrawText(text, bottom + kAxisHeight - 4, x - TextWidth(text, kTick) / 2, kTick, picture);
  }
}

void DrawBar(const StackedPlot& plot, const StackedBar& bar, int top, const Layout& layout,
             Picture* picture) {
  const int baseline = top + kBarHeight - 3;
  DrawText(bar.label, baseline, layout.left - kTextGap - TextWidth(bar.label, kText), kText,
           picture);
  double sum = 0;
  for (size_t i = 0; i < bar.shares.size() && i < plot.series.size(); ++i) {
    const int begin = static_cast<int>(sum * kBarLength + 0.5);
    sum = std::min(1.0, sum + std::max(0.0, bar.shares[i]));
    const int end = static_cast<int>(sum * kBarLength + 0.5);
    FillBox(top, layout.left + begin, kBarHeight, end - begin, plot.series[i].color, picture);
  }
  DrawText(bar.note, baseline, layout.left + kBarLength + kTextGap, kText, picture);
}

}  // namespace

Picture DrawStackedPlot(const StackedPlot& plot) {
  const Layout layout = MakeLayout(plot);
  Picture picture(layout.height, layout.width, kPaper);
  DrawHead(plot, &picture);
  DrawAxis(layout, &picture);
  int top = layout.top;
  for (size_t bar = 0; bar < plot.bars.size(); ++bar) {
    if (StartsGroup(plot, bar)) {
      top += kGroupHeight;
      DrawText(plot.bars[bar].group, top - 9, kMargin, kGroup, &picture);
    }
    DrawBar(plot, plot.bars[bar], top, layout, &picture);
    top += kBarHeight + kBarGap;
  }
  return picture;
}

}  // namespace shardmill
