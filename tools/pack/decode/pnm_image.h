// PBM, PGM and PPM files, in their text and binary forms.
//
// Free function without state.
#pragma once

#include <cstdint>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/decode/source_image.h"

namespace shardmill {

// The samples are those of the file, whatever its largest value is: that one is
// told in the image. DataLoss when the file is cut or a sample is larger.
// InvalidArgument for more than `max_pixels`.
Status DecodePnm(std::string_view file, uint64_t max_pixels, SourceImage* image);

}  // namespace shardmill
