// What the header of a BMP or PNM file says of the form its pixels are stored in, where
// OpenCV decodes them into another one without a word.
//
// Free functions without state; safe from any thread.
#pragma once

#include <string_view>

#include "tools/pack/file_format.h"

namespace shardmill {

struct StoredForm {
  bool palette = false;   // decoded to the colours; the indices are lost
  bool few_bits = false;  // gray of fewer than 8 bits, which may be stretched to 0 … 255
};

// A header that cannot be read says nothing: decoding the file will fail.
StoredForm ReadStoredForm(std::string_view file, FileFormat format);

}  // namespace shardmill
