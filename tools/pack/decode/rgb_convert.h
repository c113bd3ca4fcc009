// Turns a decoded image into upright RGB of 8 or 16 bits. Every conversion is explicit and
// reported.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/pack/decode/source_image.h"

namespace shardmill {

enum Conversion {
  kGrayToRgb,
  kPaletteToRgb,
  kCmykToRgb,
  kAlphaDropped,
  kSixteenToEightBits,
  kOrientationApplied,
  kBrokenExifIgnored,
  kStrayBytesIgnored,
  kJpegKept,       // no conversion: the file is stored as it is
  kDoubleToFloat,  // of arrays
  kNoDataFilled,
  kNotFiniteKept,  // no conversion: arrays that hold it
  kLevelsSpread,   // of PNM, BMP and JPEG 2000 files
  kNoDataKept,     // no conversion: TIFF files with pixels that they say are none
  kConversionCount,
};

// "gray to RGB", …
std::string_view ConversionName(Conversion conversion);
// "gray_to_rgb", …: a stable key.
std::string_view ConversionKey(Conversion conversion);

using ConversionCounts = std::array<uint64_t, kConversionCount>;

// A view of dense RGB rows; samples of two bytes are in native byte order.
struct RgbImage {
  ImageSize size;
  const uint8_t* pixels = nullptr;
  int sample_bytes = 1;

  size_t pixel_bytes() const { return size_t{3} * static_cast<size_t>(sample_bytes); }
};

// Keeps its buffers from image to image; not for concurrent use of one object.
class RgbConverter {
 public:
  // The result refers to `image` or to this object, until the next call. Adds what was done to
  // `counts`. Samples are spread over 0 … 255, or 0 … 65535 with `sample_bytes` 2; 16 bits are
  // rounded to 8.
  RgbImage Convert(const SourceImage& image, ConversionCounts* counts, int sample_bytes = 1);

 private:
  std::vector<uint8_t> rgb_;
  std::vector<uint8_t> upright_;
};

// The size after `orientation` (1 … 8, as EXIF counts) is applied.
ImageSize UprightSize(ImageSize stored, int orientation);

// Copies a picture of dense rows to `out` so that it stands upright.
void TurnUpright(const uint8_t* stored, ImageSize size, size_t pixel_bytes, int orientation,
                 uint8_t* out);

// Where the part `upright` of a picture that stands upright lies in the picture as stored.
Region StoredRegion(const Region& upright, ImageSize stored, int orientation);

}  // namespace shardmill
