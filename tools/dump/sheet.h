// Lays out records as one picture: title, cells in a grid, legend of the classes.
//
// A cell shows a record's image and, where it has a label map, the image with the label over it
// and (Sheet::label_alone) the label by itself, side by side; under them the record's number and
// key, and the class for classification. Pure functions; safe for concurrent use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/dump/palette.h"
#include "tools/dump/picture.h"

namespace shardmill {

struct SheetCell {
  Picture image;  // at least one pixel
  std::optional<LabelMap> label;
  std::optional<int32_t> class_id;  // drawn as a swatch before `class_name`
  std::string class_name;
  std::string number;   // of the record: "#12"
  std::string caption;  // its key; the end is kept when it is too long
};

struct LegendEntry {
  int32_t id = 0;  // kIgnoredPixel for the pixels of no class
  std::string name;
  std::optional<double> share;  // 0 … 1
};

struct Sheet {
  std::string title;
  std::string subtitle;
  std::vector<SheetCell> cells;  // at least one
  std::string legend_title;
  std::vector<LegendEntry> legend;  // empty: no legend
  bool label_alone = false;
  double opacity = 0.55;  // of the labels over the images
  int most_width = 1800;  // of the whole picture, unless panels would become too small to see
};

Picture DrawSheet(const Sheet& sheet, const ClassPalette& palette);

}  // namespace shardmill
