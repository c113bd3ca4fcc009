// TIFF files of any form, written through libtiff for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardmill {

struct TiffForm {
  uint32_t height = 1, width = 1;
  int bands = 1;
  int bits = 8;           // of a sample: 1, 8, 16 or 32
  int sample_format = 1;  // as the tag counts: 1 unsigned, 2 signed, 3 floating point
  int photometric = 1;    // 0 white is zero, 1 black is zero, 2 RGB, 3 palette
  bool separate = false;  // band by band
  uint32_t tile = 0;      // side of the tiles, a multiple of 16; 0: strips
  bool deflate = false;
  bool jpeg = false;
  std::string no_data;  // of GDAL's tag; empty: there is none
  bool big = false;     // BigTIFF
  int orientation = 1;
  int extra_sample = -1;          // 0 unspecified, 1 alpha that is in the colours, 2 alpha
  std::vector<uint32_t> palette;  // 0xRRGGBB, one for each index
  uint32_t subfile = 0;           // 1: a smaller copy of another page
};

// `value(y, x, band)` gives the samples, as numbers; floats are rounded to float.
using TiffValues = double (*)(uint32_t y, uint32_t x, int band);

// A file with a page for each form.
std::string WriteTiff(const std::vector<TiffForm>& pages, TiffValues values);

}  // namespace shardmill
