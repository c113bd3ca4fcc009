// The chunks of a PNG file: every length, place and checksum is checked, nothing is decoded.
//
// Text and other chunks that do not touch the pixels are stepped over, whatever their size.
// Stateless; safe for concurrent use.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

// The values are those of the file format.
enum class PngColorType : uint8_t {
  kGray = 0,
  kRgb = 2,
  kPalette = 3,
  kGrayAlpha = 4,
  kRgbAlpha = 6,
};

struct PngPaletteEntry {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  uint8_t alpha = 255;  // from tRNS
};

struct PngChunks {
  int64_t height = 0;
  int64_t width = 0;
  int bit_depth = 8;  // 1, 2, 4, 8 or 16, as the colour type allows
  PngColorType color_type = PngColorType::kGray;
  bool interlaced = false;
  bool animated = false;  // the file has animation chunks
  std::vector<PngPaletteEntry> palette;
  // tRNS of a gray or RGB file: the one colour that is transparent (gray: the first number).
  bool has_transparent_color = false;
  std::array<uint16_t, 3> transparent_color = {};
  int orientation = 1;  // from eXIf, see exif_orientation.h
  bool broken_exif = false;
  std::vector<std::string_view> image_data;  // the bodies of the IDAT chunks; views into `file`
  int64_t trailing_bytes = 0;                // after the end chunk: worth a note, no damage
  std::string oddity;  // not empty: a chunk that asks for another decoder, in words

  int Channels() const;       // 1 … 4; a palette index is one channel
  uint64_t RowBytes() const;  // of a row as the file packs it, without its filter byte
};

// DataLoss when the file is no PNG, is cut, breaks the format or fails a checksum;
// InvalidArgument when it has more than `max_pixels` pixels. `file` must outlive the result.
Result<PngChunks> ReadPngChunks(std::string_view file, int64_t max_pixels);

}  // namespace shardmill
