// Builds EXIF data for tests.
#pragma once

#include <string>

namespace shardmill {

enum class ByteOrder { kLittle, kBig };

// A TIFF header and one directory of three tags: image width (40), orientation, and resolution
// unit (2).
std::string BuildExif(int orientation, ByteOrder order);

}  // namespace shardmill
