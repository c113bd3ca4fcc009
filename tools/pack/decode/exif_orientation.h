// The orientation tag of EXIF data, as JPEG (APP1) and PNG (eXIf) carry it.
//
// The decoders here never turn an image: they return the tag, and the packer applies one rule to
// image and label. Stateless; safe for concurrent use.
#pragma once

#include <string_view>

namespace shardmill {

struct ExifReading {
  int orientation = 1;  // 1 … 8
  bool broken = false;  // the structure, or the value is none of the eight
};

// Of `tiff`, which starts at the TIFF header ("II*\0" or "MM\0*"). 1, "as stored", when there is no
// such tag or it is broken: metadata that nobody can read is no reason to refuse sound pixels, but
// the picture may lie on its side, which the packer reports. Empty data are not broken.
ExifReading ReadExif(std::string_view tiff);
inline int ExifOrientation(std::string_view tiff) { return ReadExif(tiff).orientation; }

}  // namespace shardmill
