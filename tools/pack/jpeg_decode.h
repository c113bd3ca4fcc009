// Decodes JPEG files through libjpeg-turbo: gray stays gray, everything else becomes RGB.
//
// A file that is cut, or that the decoder has to guess about, is DataLoss: its warnings are
// errors here. The EXIF orientation is reported, not applied. Stateless; safe for concurrent use.
#pragma once

#include <cstdint>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/source_image.h"

namespace shardmill {

// InvalidArgument when the image has more than `max_pixels` pixels.
Status DecodeJpeg(std::string_view file, uint64_t max_pixels, SourceImage* image);

// Height and width after the orientation is applied, from the headers alone.
Result<ImageSize> ProbeJpeg(std::string_view file);

}  // namespace shardmill
