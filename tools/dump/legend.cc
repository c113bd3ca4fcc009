#include "tools/dump/legend.h"

#include <algorithm>
#include <cstdio>

#include "tools/dump/drawing.h"

namespace shardmill {
namespace {

constexpr TextStyle kTitle = {10, {70, 70, 78}, true};
constexpr TextStyle kEntry = {10, {30, 30, 34}, false};
constexpr Rgb kBorder = {90, 90, 96};
constexpr int kTitleHeight = 26;
constexpr int kRowHeight = 24;
constexpr int kSwatchHeight = 16;
constexpr int kSwatchWidth = 24;
constexpr int kSwatchGap = 8;
constexpr int kShareGap = 12;
constexpr int kColumnGap = 32;
constexpr int kMostNameWidth = 260;

std::string ShareText(const LegendEntry& entry) {
  if (!entry.share) return "";
  char text[32];
  const double percent = *entry.share * 100;
  std::snprintf(text, sizeof text, "%.*f %%", percent < 1 && percent > 0 ? 2 : 1, percent);
  return text;
}

struct Columns {
  int name_width = 0;
  int share_width = 0;
  int count = 1;
  int width() const {
    return kSwatchWidth + kSwatchGap + name_width + (share_width > 0 ? kShareGap : 0) + share_width;
  }
};

Columns MeasureColumns(const std::vector<LegendEntry>& entries, int width) {
  Columns columns;
  for (const LegendEntry& entry : entries) {
    const int name = std::min(TextWidth(entry.name, kEntry), kMostNameWidth);
    columns.name_width = std::max(columns.name_width, name);
    columns.share_width = std::max(columns.share_width, TextWidth(ShareText(entry), kEntry));
  }
  columns.count = std::max(1, (width + kColumnGap) / (columns.width() + kColumnGap));
  return columns;
}

void DrawEntry(const LegendEntry& entry, const ClassPalette& palette, const Columns& columns,
               int top, int left, Picture* picture) {
  DrawSwatch(entry.id, palette, top + (kRowHeight - kSwatchHeight) / 2, left, kSwatchHeight,
             kSwatchWidth, picture);
  const int baseline = top + (kRowHeight + kEntry.height) / 2;
  const int name_left = left + kSwatchWidth + kSwatchGap;
  DrawText(FitTextEnd(entry.name, columns.name_width, kEntry), baseline, name_left, kEntry,
           picture);
  const std::string share = ShareText(entry);
  DrawText(share, baseline, left + columns.width() - TextWidth(share, kEntry), kEntry, picture);
}

}  // namespace

int LegendTitleWidth(const std::string& title) { return TextWidth(title, kTitle); }

void DrawSwatch(int32_t id, const ClassPalette& palette, int top, int left, int height, int width,
                Picture* picture) {
  FillBox(top, left, height, width, kBorder, picture);
  for (int y = 1; y + 1 < height; ++y) {
    for (int x = 1; x + 1 < width; ++x) {
      FillBox(top + y, left + x, 1, 1, palette.ColorAt(id, y, x), picture);
    }
  }
}

Picture DrawLegend(const std::string& title, const std::vector<LegendEntry>& entries,
                   const ClassPalette& palette, int width, Rgb background) {
  const int shown = std::min(static_cast<int>(entries.size()), kMostLegendEntries);
  const std::vector<LegendEntry> drawn(entries.begin(), entries.begin() + shown);
  const int left_out = static_cast<int>(entries.size()) - shown;
  const Columns columns = MeasureColumns(drawn, width);
  const int rows = (shown + columns.count - 1) / columns.count;
  Picture picture(kTitleHeight + rows * kRowHeight + (left_out > 0 ? kRowHeight : 0), width,
                  background);
  DrawText(title, kTitleHeight - 10, 0, kTitle, &picture);
  for (int i = 0; i < shown; ++i) {
    const int top = kTitleHeight + i / columns.count * kRowHeight;
    DrawEntry(drawn[i], palette, columns, top, i % columns.count * (columns.width() + kColumnGap),
              &picture);
  }
  if (left_out > 0) {
    const int baseline = kTitleHeight + rows * kRowHeight + (kRowHeight + kEntry.height) / 2;
    DrawText("and " + std::to_string(left_out) + " more", baseline, 0, kEntry, &picture);
  }
  return picture;
}

}  // namespace shardmill
