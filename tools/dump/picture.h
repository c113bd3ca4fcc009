// An RGB picture in memory, and the label map that is drawn over it.
//
// Plain data: safe to share between threads while nobody changes it.
#pragma once

#include <cstdint>
#include <vector>

namespace shardmill {

struct Rgb {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;

  bool operator==(const Rgb& other) const {
    return red == other.red && green == other.green && blue == other.blue;
  }
  bool operator!=(const Rgb& other) const { return !(*this == other); }
};
static_assert(sizeof(Rgb) == 3, "rows of pixels are handed to OpenCV and libpng as bytes");

constexpr Rgb RgbFromHex(uint32_t color) {
  return {static_cast<uint8_t>(color >> 16), static_cast<uint8_t>(color >> 8),
          static_cast<uint8_t>(color)};
}
constexpr uint32_t HexFromRgb(Rgb color) {
  return uint32_t{color.red} << 16 | uint32_t{color.green} << 8 | color.blue;
}

struct Picture {
  int height = 0;
  int width = 0;
  std::vector<Rgb> pixels;  // rows from the top

  Picture() = default;
  Picture(int picture_height, int picture_width, Rgb fill)
      : height(picture_height),
        width(picture_width),
        pixels(static_cast<size_t>(picture_height) * picture_width, fill) {}

  Rgb& at(int y, int x) { return pixels[static_cast<size_t>(y) * width + x]; }
  const Rgb& at(int y, int x) const { return pixels[static_cast<size_t>(y) * width + x]; }
};

// The label value of a pixel that belongs to no class, and of one whose one-hot vector names
// several (damage that checksums cannot see).
constexpr int32_t kIgnoredPixel = -1;
constexpr int32_t kSeveralClasses = -2;

// Class ids per pixel, whatever encoding they are stored in. Ids outside the class table are kept
// as they are, so that they can be shown as what they are: an error in the data.
struct LabelMap {
  int height = 0;
  int width = 0;
  std::vector<int32_t> ids;  // rows from the top; class ids and the values above

  int32_t at(int y, int x) const { return ids[static_cast<size_t>(y) * width + x]; }
};

}  // namespace shardmill
