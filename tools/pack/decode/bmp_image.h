// BMP files as images.
//
// Free functions without state.
#pragma once

#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/decode/bmp_header.h"
#include "tools/pack/decode/source_image.h"

namespace shardmill {

// Palettes keep their indices, except gray ones in which each level is its own index. Channels of
// other than 8 bits are spread over all levels of 8, or of 16 where one of them has more than 8.
// DataLoss when the file is damaged or cut, or an index lies beyond the palette.
Status DecodeBmp(std::string_view file, const BmpHeader& header, SourceImage* image);

}  // namespace shardmill
