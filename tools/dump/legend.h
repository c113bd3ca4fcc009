// Draws the class colours with names and shares, in as many columns as fit.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <string>
#include <vector>

#include "tools/dump/palette.h"
#include "tools/dump/picture.h"
#include "tools/dump/sheet.h"

namespace shardmill {

// A picture of `width` pixels, as high as it needs to be. Entries beyond kMostLegendEntries are
// left out and counted.
constexpr int kMostLegendEntries = 48;
Picture DrawLegend(const std::string& title, const std::vector<LegendEntry>& entries,
                   const ClassPalette& palette, int width, Rgb background);

int LegendTitleWidth(const std::string& title);

// A small box in the colour (or pattern) of a class, with a thin border.
void DrawSwatch(int32_t id, const ClassPalette& palette, int top, int left, int height, int width,
                Picture* picture);

}  // namespace shardmill
