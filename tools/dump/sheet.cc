#include "tools/dump/sheet.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reader/base/status.h"
#include "tools/dump/drawing.h"
#include "tools/dump/legend.h"
#include "tools/dump/overlay.h"

namespace shardmill {
namespace {

constexpr Rgb kPaper = {250, 250, 248};
constexpr Rgb kPanelBack = {228, 228, 226};
constexpr TextStyle kTitle = {15, {20, 20, 24}, true};
constexpr TextStyle kSubtitle = {10, {96, 96, 104}, false};
constexpr TextStyle kCaption = {9, {50, 50, 56}, false};
constexpr TextStyle kNumber = {9, {130, 130, 138}, false};
constexpr TextStyle kClassName = {10, {20, 20, 24}, true};
constexpr int kMargin = 24;
constexpr int kCellGap = 18;
constexpr int kPanelGap = 2;
constexpr int kTitleHeight = 56;
constexpr int kCaptionHeight = 22;
constexpr int kNumberGap = 9;
constexpr int kLegendGap = 14;
constexpr int kClassSwatch = 12;
// Smaller panels would leave no room for the caption: small images are enlarged by a whole factor.
constexpr int kLeastPanelSide = 128;
// Number, key and class of a narrow picture need room.
constexpr int kLeastCellWidth = 128;
constexpr double kWantedAspect = 1.5;  // width / height of the grid

int PanelsPerCell(const Sheet& sheet) {
  const bool labels = std::any_of(sheet.cells.begin(), sheet.cells.end(),
                                  [](const SheetCell& cell) { return cell.label.has_value(); });
  return !labels ? 1 : sheet.label_alone ? 3 : 2;
}

int CaptionLines(const Sheet& sheet) {
  const bool classes = std::any_of(sheet.cells.begin(), sheet.cells.end(),
                                   [](const SheetCell& cell) { return cell.class_id.has_value(); });
  return classes ? 2 : 1;
}

// Where everything goes.
struct Layout {
  int panels = 1;  // per cell
  int caption_lines = 1;
  int panel_height = 0;
  int panel_width = 0;
  int columns = 1;
  int rows = 1;

  int cell_width() const { return panels * panel_width + (panels - 1) * kPanelGap; }
  int cell_height() const { return panel_height + caption_lines * kCaptionHeight; }
  int grid_width() const { return columns * cell_width() + (columns - 1) * kCellGap; }
  int grid_height() const { return rows * cell_height() + (rows - 1) * kCellGap; }
};

void WidenForCaption(int room, Layout* layout) {
  const int least = (kLeastCellWidth - (layout->panels - 1) * kPanelGap) / layout->panels;
  layout->panel_width = std::max(layout->panel_width, std::min(least, room));
}

// A panel holds the largest image of the sheet, or an enlarged one when all are small.
void SetPanelSize(const Sheet& sheet, Layout* layout) {
  for (const SheetCell& cell : sheet.cells) {
    layout->panel_height = std::max(layout->panel_height, cell.image.height);
    layout->panel_width = std::max(layout->panel_width, cell.image.width);
  }
  const int side = std::max(layout->panel_height, layout->panel_width);
  const int factor = side >= kLeastPanelSide ? 1 : (kLeastPanelSide + side - 1) / side;
  layout->panel_height *= factor;
  layout->panel_width *= factor;
  WidenForCaption(kLeastCellWidth, layout);
}

void SetColumns(int cells, Layout* layout) {
  double best = std::numeric_limits<double>::infinity();
  int best_columns = 1;
  for (int columns = 1; columns <= cells; ++columns) {
    layout->columns = columns;
    layout->rows = (cells + columns - 1) / columns;
    const double aspect = static_cast<double>(layout->grid_width()) / layout->grid_height();
    // An empty place in the last row is worth a little distortion, no more.
    const int empty = columns * layout->rows - cells;
    const double cost = std::abs(std::log(aspect / kWantedAspect)) + 0.3 * empty / columns;
    if (cost < best) {
      best = cost;
      best_columns = columns;
    }
  }
  layout->columns = best_columns;
  layout->rows = (cells + best_columns - 1) / best_columns;
}

void ShrinkToFit(int most_width, Layout* layout) {
  const int gaps = layout->grid_width() - layout->columns * layout->panels * layout->panel_width;
  const int room = (most_width - 2 * kMargin - gaps) / (layout->columns * layout->panels);
  const int widest = std::max(room, kLeastPanelSide / 2);
  const double by_width = static_cast<double>(widest) / layout->panel_width;
  // A very tall image must not make a picture of gigabytes.
  const double by_height = 2.0 * most_width / layout->panel_height;
  const double factor = std::min(by_width, by_height);
  if (factor >= 1) return;
  layout->panel_height = std::max(1, static_cast<int>(layout->panel_height * factor + 0.5));
  layout->panel_width = std::max(1, static_cast<int>(layout->panel_width * factor + 0.5));
  if (by_height < by_width) WidenForCaption(widest, layout);
}

Layout MakeLayout(const Sheet& sheet) {
  Layout layout;
  layout.panels = PanelsPerCell(sheet);
  layout.caption_lines = CaptionLines(sheet);
  SetPanelSize(sheet, &layout);
  SetColumns(static_cast<int>(sheet.cells.size()), &layout);
  ShrinkToFit(sheet.most_width, &layout);
  return layout;
}

// The image as large as fits into a panel; small ones grow by a whole factor.
Picture FitImage(const Picture& image, const Layout& layout) {
  const double factor = std::min(static_cast<double>(layout.panel_height) / image.height,
                                 static_cast<double>(layout.panel_width) / image.width);
  const double scale = factor >= 1 ? std::floor(factor) : factor;
  return Scale(image, std::max(1, static_cast<int>(image.height * scale + 0.5)),
               std::max(1, static_cast<int>(image.width * scale + 0.5)));
}

void DrawPanel(const Picture& picture, int top, int left, const Layout& layout, Picture* page) {
  FillBox(top, left, layout.panel_height, layout.panel_width, kPanelBack, page);
  Paste(picture, top + (layout.panel_height - picture.height) / 2,
        left + (layout.panel_width - picture.width) / 2, page);
}

void DrawCaption(const SheetCell& cell, int top, int left, const Layout& layout, Picture* page) {
  const int width = layout.cell_width();
  const int key_left = cell.number.empty() ? 0 : TextWidth(cell.number, kCaption) + kNumberGap;
  DrawText(cell.number, top + kCaptionHeight - 8, left, kNumber, page);
  DrawText(FitTextEnd(cell.caption, width - key_left, kCaption), top + kCaptionHeight - 8,
           left + key_left, kCaption, page);
  if (!cell.class_id) return;
  const int baseline = top + 2 * kCaptionHeight - 9;
  const int name_left = left + kClassSwatch + 6;
  DrawText(FitTextEnd(cell.class_name, width - kClassSwatch - 6, kClassName), baseline, name_left,
           kClassName, page);
}

void DrawCell(const SheetCell& cell, const ClassPalette& palette, const Sheet& sheet, int top,
              int left, const Layout& layout, Picture* page) {
  const Picture image = FitImage(cell.image, layout);
  const int step = layout.panel_width + kPanelGap;
  DrawPanel(image, top, left, layout, page);
  if (cell.label) {
    DrawPanel(OverlayLabel(image, *cell.label, palette, sheet.opacity), top, left + step, layout,
              page);
    if (layout.panels > 2) {
      DrawPanel(OverlayLabel(image, *cell.label, palette, 1), top, left + 2 * step, layout, page);
    }
  }
  const int caption_top = top + layout.panel_height;
  DrawCaption(cell, caption_top, left, layout, page);
  if (cell.class_id) {
    DrawSwatch(*cell.class_id, palette, caption_top + 2 * kCaptionHeight - 20, left, kClassSwatch,
               kClassSwatch, page);
  }
}

// What the lines above and below the grid need.
int TitleWidth(const Sheet& sheet) {
  const int above = std::max(TextWidth(sheet.title, kTitle), TextWidth(sheet.subtitle, kSubtitle));
  return std::max(above, sheet.legend.empty() ? 0 : LegendTitleWidth(sheet.legend_title));
}

}  // namespace

Picture DrawSheet(const Sheet& sheet, const ClassPalette& palette) {
  SHARDMILL_CHECK(!sheet.cells.empty());
  const Layout layout = MakeLayout(sheet);
  const int width = std::max(layout.grid_width(), std::min(TitleWidth(sheet), sheet.most_width));
  Picture legend;
  if (!sheet.legend.empty()) {
    legend = DrawLegend(sheet.legend_title, sheet.legend, palette, width, kPaper);
  }
  const int grid_top = kMargin + kTitleHeight;
  const int legend_top = grid_top + layout.grid_height() + kLegendGap;
  Picture page(legend_top + legend.height + kMargin, width + 2 * kMargin, kPaper);
  DrawText(sheet.title, kMargin + kTitle.height, kMargin, kTitle, &page);
  DrawText(sheet.subtitle, kMargin + kTitle.height + 20, kMargin, kSubtitle, &page);
  for (size_t i = 0; i < sheet.cells.size(); ++i) {
    const int row = static_cast<int>(i) / layout.columns;
    const int column = static_cast<int>(i) % layout.columns;
    DrawCell(sheet.cells[i], palette, sheet, grid_top + row * (layout.cell_height() + kCellGap),
             kMargin + column * (layout.cell_width() + kCellGap), layout, &page);
  }
  Paste(legend, legend_top, kMargin, &page);
  return page;
}

}  // namespace shardmill
