// Changes of the colours of an image: brightness, contrast, saturation and hue in one linear step,
// limited to the range of the samples once, at its end.
//
// Whole numbers only, so that the same change gives the same bytes on every machine. Pure
// functions; safe for concurrent use.
#pragma once

#include <array>
#include <cstdint>

namespace shardmill {

struct ColorChange {
  int32_t brightness_permille = 0;     // of the full range, added; -1000 to 1000
  int32_t contrast_permille = 1000;    // factor around the mean of the pixels; 0 to 2000
  int32_t saturation_permille = 1000;  // 0 to 2000; 0 is gray
  int32_t hue_millidegrees = 0;

  bool IsOn() const {
    return brightness_permille != 0 || contrast_permille != 1000 || saturation_permille != 1000 ||
           hue_millidegrees != 0;
  }
};

// A linear map of red, green and blue, in 2^-16.
struct ColorMap {
  static constexpr int kBits = 16;
  std::array<std::array<int32_t, 3>, 3> factor = {};
  int64_t offset = 0;  // added to each, with the half that rounds
};

// `mean` is that of all samples, in 2^-16 levels; `full` the largest level, 255 or 65535.
ColorMap MakeColorMap(const ColorChange& change, int64_t mean, int64_t full);

// In place, on dense pixels of three samples.
void MapColors(const ColorMap& map, uint64_t pixels, uint8_t* rgb);
void MapColors(const ColorMap& map, uint64_t pixels, uint16_t* rgb);
// The plain version of the first, which is vector code: the reference of the tests.
void MapColorsPlainly(const ColorMap& map, uint64_t pixels, uint8_t* rgb);
// Of one sample per pixel, gray: brightness and contrast of the map.
void MapGrays(const ColorMap& map, uint64_t pixels, uint8_t* gray);
void MapGrays(const ColorMap& map, uint64_t pixels, uint16_t* gray);

// The mean of samples in 2^-16 levels, from their sum; 0 of none.
int64_t MeanLevel(uint64_t sum, uint64_t samples);

}  // namespace shardmill
