#include "tools/dump/overlay.h"

#include <cmath>

namespace shardmill {
namespace {

constexpr double kOutlineOpacity = 1.0;

// The pixel of `label` under the pixel centre (y, x) of a picture of another size.
int32_t LabelUnder(const LabelMap& label, const Picture& picture, int y, int x) {
  const int64_t row = (2 * int64_t{y} + 1) * label.height / (2 * int64_t{picture.height});
  const int64_t column = (2 * int64_t{x} + 1) * label.width / (2 * int64_t{picture.width});
  return label.at(static_cast<int>(row), static_cast<int>(column));
}

uint8_t Mix(uint8_t under, uint8_t over, double opacity) {
  return static_cast<uint8_t>(std::lround(under + (over - under) * opacity));
}

Rgb Mix(Rgb under, Rgb over, double opacity) {
  return {Mix(under.red, over.red, opacity), Mix(under.green, over.green, opacity),
          Mix(under.blue, over.blue, opacity)};
}

}  // namespace

Picture ColorizeLabel(const LabelMap& label, const ClassPalette& palette) {
  Picture picture(label.height, label.width, {});
  for (int y = 0; y < label.height; ++y) {
    for (int x = 0; x < label.width; ++x) {
      picture.at(y, x) = palette.ColorAt(label.at(y, x), y, x);
    }
  }
  return picture;
}

Picture OverlayLabel(const Picture& image, const LabelMap& label, const ClassPalette& palette,
                     double opacity) {
  Picture picture = image;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const int32_t id = LabelUnder(label, image, y, x);
      const bool outline = (x + 1 < image.width && LabelUnder(label, image, y, x + 1) != id) ||
                           (y + 1 < image.height && LabelUnder(label, image, y + 1, x) != id);
      const double strength = outline ? kOutlineOpacity : opacity;
      picture.at(y, x) = Mix(image.at(y, x), palette.ColorAt(id, y, x), strength);
    }
  }
  return picture;
}

}  // namespace shardmill
