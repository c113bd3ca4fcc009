// Pixels of image files that say which of their values means no data.
//
// Free function without state.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/pack/decode/source_image.h"

namespace shardmill {

// The sample that means no data, where it stands in all channels of a pixel, whatever its alpha is;
// nullopt where the file has no such pixel.
std::optional<uint32_t> NoDataSample(const SourceImage& image);

}  // namespace shardmill
