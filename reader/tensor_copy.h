// Copies between tensors of different shapes: a window of an image, a tensor into a padded one.
//
// Pure functions on bytes; the ranges must not overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace shardmill {

// Writes `count` copies of an element.
void FillElements(const std::vector<uint8_t>& element, uint64_t count, uint8_t* out);

// A rectangle of an image, which may reach over its edges, and how it is turned afterwards.
struct PixelWindow {
  int64_t y = 0;  // of its first row and column in the image
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;
  bool flip_vertical = false;
  bool flip_horizontal = false;

  // Whether every pixel of the window lies in an image of this size.
  bool IsInside(int64_t image_height, int64_t image_width) const;
};

struct PixelImage {
  const uint8_t* pixels = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  uint64_t pixel_bytes = 1;
};

// Writes the window, height x width pixels; what lies outside of the image becomes copies of
// `pad_element`, whose size divides that of a pixel.
void CopyWindow(const PixelImage& image, const PixelWindow& window,
                const std::vector<uint8_t>& pad_element, uint8_t* out);

// Copies a tensor into the low corner of another of the same rank; along each axis the rest of
// `out` becomes copies of `pad_element`, the size of one element, and what does not fit is left
// out.
void CopyPadded(const uint8_t* tensor, const std::vector<int64_t>& shape,
                const std::vector<int64_t>& out_shape, const std::vector<uint8_t>& pad_element,
                uint8_t* out);

}  // namespace shardmill
