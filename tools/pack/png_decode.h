// Decodes PNG files through libpng without any expansion: palette indices stay indices, gray
// values of 1, 2 and 4 bits stay unscaled, 16 bits stay 16 bits.
//
// A file that is cut anywhere, or whose image data fails a checksum, is DataLoss. Text, colour
// profiles and the like are skipped whatever their size. Stateless; safe for concurrent use.
#pragma once

#include <cstdint>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/source_image.h"

namespace shardmill {

// InvalidArgument when the image has more than `max_pixels` pixels.
Status DecodePng(std::string_view file, uint64_t max_pixels, SourceImage* image);

// Height and width from the header alone.
Result<ImageSize> ProbePng(std::string_view file);

}  // namespace shardmill
