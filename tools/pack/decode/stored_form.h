// What files of some kinds say of themselves beside their pixels: the form these are stored in, and
// how the picture is turned.
//
// Free functions without state; safe from any thread.
#pragma once

#include <string_view>

#include "tools/pack/decode/exif_orientation.h"
#include "tools/pack/decode/file_format.h"

namespace shardmill {

struct StoredForm {
  bool few_bits = false;  // gray of fewer than 8 bits, which may be stretched to 0 … 255
  bool animated = false;  // a WebP file of several pictures
  ExifReading exif;       // of WebP and JPEG 2000
};

// A header that cannot be read says nothing: decoding the file will fail.
StoredForm ReadStoredForm(std::string_view file, FileFormat format);

}  // namespace shardmill
