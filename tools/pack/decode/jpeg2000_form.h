// Which JPEG 2000 files OpenCV reads as they are meant. It passes over the colour space and the
// depth of the samples without a word.
//
// Free function without state.
#pragma once

#include <string_view>

#include "reader/base/status.h"

namespace shardmill {

// Bits of a sample. DataLoss when the file is in a form whose pixels would come out wrong: with
// signed samples, of several depths, at lower resolution than the picture, or of a colour space
// that is neither RGB nor gray. Of a damaged header it says 8: decoding the file will fail.
Result<int> ReadJpeg2000Bits(std::string_view file);

}  // namespace shardmill
