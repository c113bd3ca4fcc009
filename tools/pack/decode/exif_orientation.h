// The orientation tag of EXIF data, as JPEG (APP1) and PNG (eXIf) carry it.
//
// The decoders here never turn an image: they return the tag, and the packer applies one rule to
// image and label. Stateless; safe for concurrent use.
#pragma once

#include <string_view>

namespace shardmill {

// 1 … 8 from `tiff`, which starts at the TIFF header ("II*\0" or "MM\0*"). 1, "as stored", when
// there is no such tag, its value is none of the eight, or the structure is broken: metadata
// that nobody can read is no reason to refuse sound pixels.
int ExifOrientation(std::string_view tiff);

}  // namespace shardmill
