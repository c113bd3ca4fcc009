// Where the pixels of an augmented record come from: a turned, scaled and mirrored window.
//
// Whole numbers in units of 2^-32 pixels, so that the same source pixel is found on every machine.
// Pure functions; safe for concurrent use.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/pack/decode/source_image.h"

namespace shardmill {

// The centre of pixel (y, x) of the record shows the point (X, Y) of the resized source, counted
// from its upper left corner; pixel centres lie at +0.5.
struct AffineMap {
  static constexpr int kBits = 32;
  static constexpr int64_t kOne = int64_t{1} << kBits;

  int64_t x_from_x = kOne, x_from_y = 0, x_offset = 0;
  int64_t y_from_x = 0, y_from_y = kOne, y_offset = 0;

  // For records and sources of at most kMaxImageSide.
  int64_t X(uint32_t y, uint32_t x) const {
    return x_from_x * int64_t{x} + x_from_y * int64_t{y} + x_offset;
  }
  int64_t Y(uint32_t y, uint32_t x) const {
    return y_from_x * int64_t{x} + y_from_y * int64_t{y} + y_offset;
  }
  bool IsInside(uint32_t y, uint32_t x, ImageSize source) const {
    const int64_t source_x = X(y, x), source_y = Y(y, x);
    return source_x >= 0 && source_y >= 0 && source_x < int64_t{source.width} << kBits &&
           source_y < int64_t{source.height} << kBits;
  }
  // False for numbers that no sound map has and that could overflow.
  bool IsSound() const;
};

struct MapParameters {
  // The centre of the window in the source, in half pixels.
  int64_t center_y_halves = 0, center_x_halves = 0;
  ImageSize window;
  uint32_t scale_permille = 1000;     // 2000 shows everything twice as large
  int32_t rotation_millidegrees = 0;  // clockwise, of what is seen
  bool flip_horizontal = false, flip_vertical = false;
};
AffineMap MakeAffineMap(const MapParameters& parameters);

// The pixels of each row of a record that show its source; the others are padding. A source is a
// rectangle, so they are one run per row.
std::vector<PixelSpan> InsideSpans(const AffineMap& map, ImageSize record, ImageSize source);

}  // namespace shardmill
