// Copies between tensors of different shapes: a window of an image, a tensor into a padded one.
//
// Pure functions on bytes; the ranges must not overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace shardmill {

// Writes `count` copies of an element.
void FillElements(const std::vector<uint8_t>& element, uint64_t count, uint8_t* out);

// The rectangle of a window that shows the image; the rest lies outside of it.
struct ShownPart {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;

  bool HasRow(int64_t row) const { return width > 0 && row >= y && row < y + height; }
};

// A rectangle of an image, which may reach over its edges, and how it is turned afterwards.
struct PixelWindow {
  int64_t y = 0;  // of its first row and column in the image
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;
  bool flip_vertical = false;
  bool flip_horizontal = false;
  // The size in which the image is shown before the window is cut out of it (see scaled_window.h);
  // both 0: as it is.
  int64_t scaled_height = 0;
  int64_t scaled_width = 0;

  bool IsScaled() const { return scaled_height != 0; }
  // Whether every pixel of the window lies in an image of this size.
  bool IsInside(int64_t image_height, int64_t image_width) const;
  ShownPart Shown(int64_t image_height, int64_t image_width) const;
};

// Writes copies of `pad_element` to the places of a row of the window that lie outside of the
// image; `shown` has the row.
void PadRow(const PixelWindow& window, const ShownPart& shown, uint64_t pixel_bytes,
            const std::vector<uint8_t>& pad_element, uint8_t* row);

struct PixelImage {
  const uint8_t* pixels = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  uint64_t pixel_bytes = 1;
};

// Writes the window, height x width pixels, of an image that is not scaled; what lies outside of
// the image becomes copies of `pad_element`, whose size divides that of a pixel.
void CopyWindow(const PixelImage& image, const PixelWindow& window,
                const std::vector<uint8_t>& pad_element, uint8_t* out);

// Copies a tensor into the low corner of another of the same rank; along each axis the rest of
// `out` becomes copies of `pad_element`, the size of one element, and what does not fit is left
// out.
void CopyPadded(const uint8_t* tensor, const std::vector<int64_t>& shape,
                const std::vector<int64_t>& out_shape, const std::vector<uint8_t>& pad_element,
                uint8_t* out);

}  // namespace shardmill
