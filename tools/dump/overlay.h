// Draws labels: alone, or over the image they belong to.
//
// Pure functions; safe for concurrent use.
#pragma once

#include "tools/dump/palette.h"
#include "tools/dump/picture.h"

namespace shardmill {

// Every pixel in the colour of its class.
Picture ColorizeLabel(const LabelMap& label, const ClassPalette& palette);

// The image tinted with the class colours (0 opacity: the image alone, 1: the label alone), and
// the outlines of the classes drawn one pixel wide. A label of another size than the image is
// stretched over it by nearest neighbour.
Picture OverlayLabel(const Picture& image, const LabelMap& label, const ClassPalette& palette,
                     double opacity);

}  // namespace shardmill
