// Reads TIFF files through libtiff: the samples as the file stores them, whatever the number of
// bands, their type, and whether they lie in strips or tiles, together or band by band.
//
// Stateless; safe for concurrent use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

enum class TiffSamples { kUnsigned, kSigned, kFloat };

enum class TiffColors {
  kGray,         // or bands without a colour: 0 is black
  kInverseGray,  // 0 is white
  kRgb,
  kPalette,
};

// What the picture's header says. Smaller copies of it and masks, which some programs keep as
// further pages or before it, do not count as pictures.
struct TiffHeader {
  uint32_t height = 0, width = 0;  // as stored
  int bands = 1;
  int bits = 8;  // 1, 2, 4, 8, 16 or 32
  TiffSamples samples = TiffSamples::kUnsigned;
  TiffColors colors = TiffColors::kGray;
  bool last_band_is_alpha = false;
  bool alpha_is_in_colors = false;  // which are said to be multiplied with it
  int orientation = 1;              // 1 … 8, as EXIF counts; not applied
  bool broken_orientation = false;
  std::vector<uint32_t> palette;  // 0xRRGGBB
  std::optional<double> no_data;  // what GDAL's tag says stands where there is no data
  bool may_be_lossy = false;      // by its compression, as JPEG
};

// DataLoss when the file is damaged, holds several pictures, or is of a kind that is not read
// (CMYK, CIELAB, …).
Result<TiffHeader> ReadTiffHeader(std::string_view file);

// Bytes of a sample in memory.
int TiffSampleBytes(const TiffHeader& header);

// Fills height × width × bands samples, dense rows, bands interleaved, in native byte order;
// samples of fewer than 8 bits take a byte each. DataLoss when the file is damaged.
Status ReadTiffSamples(std::string_view file, const TiffHeader& header, std::vector<uint8_t>* out);

}  // namespace shardmill
