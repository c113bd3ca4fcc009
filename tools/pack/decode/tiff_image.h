// TIFF files as images: gray, RGB or palette of 8 or 16 bits.
//
// Free functions without state.
#pragma once

#include <cstdint>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/decode/source_image.h"
#include "tools/pack/decode/tiff_read.h"

namespace shardmill {

// InvalidArgument when there are more than `max_pixels` pixels, where every further four bands
// count like a pixel more.
Result<ImageSize> TiffSize(const TiffHeader& header, uint64_t max_pixels);

// Files whose white is 0 come out with black 0, colours multiplied with alpha as they were before.
// DataLoss when the file is damaged, or is no image of that kind: with 2 or more than 3 bands
// beside alpha, floating point, or negative samples.
Status DecodeTiffImage(std::string_view file, const TiffHeader& header, SourceImage* image);

}  // namespace shardmill
