// A decoded image file before any conversion: the samples as the file stores them.
//
// Plain data. Buffers keep their capacity, so that a worker that reuses one object allocates
// only while images grow.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "reader/console/units.h"

namespace shardmill {

// A part of an image: rows [y, y + size.height), columns [x, x + size.width).
struct Region {
  uint32_t y = 0, x = 0;
  ImageSize size;
};

// Columns [begin, end) of one row.
struct PixelSpan {
  uint32_t begin = 0, end = 0;
};

enum class PixelLayout { kGray, kGrayAlpha, kRgb, kRgba, kPalette };

constexpr int ChannelsOf(PixelLayout layout) {
  switch (layout) {
    case PixelLayout::kGray:
    case PixelLayout::kPalette:
      return 1;
    case PixelLayout::kGrayAlpha:
      return 2;
    case PixelLayout::kRgb:
      return 3;
    case PixelLayout::kRgba:
      return 4;
  }
  return 0;
}

struct SourceImage {
  ImageSize size;
  PixelLayout layout = PixelLayout::kRgb;
  int sample_bytes = 1;     // 1, or 2 in native byte order
  int stored_bits = 8;      // of a sample in the file: 1, 2, 4, 8, 16; values below 2^stored_bits
  uint32_t full_level = 0;  // the largest value of a sample, when it is not that of all its bits
  bool was_spread = false;  // from other levels over all, by the decoder
  std::vector<uint8_t> samples;        // dense rows
  std::vector<uint32_t> palette;       // 0xRRGGBB, for kPalette
  bool has_transparency = false;       // an alpha channel, or transparent colours
  std::vector<uint8_t> palette_alpha;  // of the first colours of the palette; 255 for the others
  // The one value of gray or RGB samples that is transparent (gray: the first number).
  std::optional<std::array<uint16_t, 3>> transparent_value;
  std::optional<double> no_data;  // the value that a TIFF file says means no data
  bool was_cmyk = false;          // ink values, converted to RGB
  bool had_stray_bytes = false;   // bytes without meaning, ignored; all pixels were there
  int orientation = 1;            // 1 … 8, as EXIF counts; not yet applied
  bool had_broken_exif = false;   // so that the orientation is not known
};

// What few files have: transparency without an alpha channel, samples that end before all bits,
// a value of no data.
inline void ClearRareForm(SourceImage* image) {
  image->full_level = 0;
  image->was_spread = false;
  image->no_data.reset();
  image->palette_alpha.clear();
  image->transparent_value.reset();
}

// Gives `image` its size and form, and room for its samples.
inline void AllocateSamples(ImageSize size, PixelLayout layout, int sample_bytes,
                            SourceImage* image) {
  image->size = size;
  image->layout = layout;
  image->sample_bytes = sample_bytes;
  ClearRareForm(image);
  image->samples.resize(size.pixels() * static_cast<uint64_t>(ChannelsOf(layout)) *
                        static_cast<uint64_t>(sample_bytes));
}

}  // namespace shardmill
