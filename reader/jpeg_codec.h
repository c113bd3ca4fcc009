// JPEG files as stored bytes: encoding, and decoding of exactly what a schema says.
//
// Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"

namespace shardmill {

struct JpegShape {
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 0;  // 1 gray, 3 RGB
};

constexpr uint32_t kMaxJpegSide = 65500;  // libjpeg's own limit

// A baseline file with Huffman tables made for it; colours at half resolution below quality 90
// (1 to 100), at the full one from there on. InvalidArgument when a JPEG cannot have this shape.
Status EncodeJpeg(const uint8_t* pixels, const JpegShape& shape, int quality, std::string* out);

// DataLoss unless the headers of `file` are sound and are those of a picture that DecodeJpeg
// makes `shape` of: the same size, Huffman coded, and as many components as `shape` has channels,
// or a single one.
Status CheckJpegHeader(const void* file, uint64_t bytes, const JpegShape& shape);

// The same, and writes height × width × channels bytes to `pixels`. Anything that libjpeg warns
// of is DataLoss too, except bytes without meaning between or behind the markers. One component
// for three channels gives three equal ones.
Status DecodeJpeg(const void* file, uint64_t bytes, const JpegShape& shape, uint8_t* pixels);

}  // namespace shardmill
