// The statistics of images of f32.
//
// A pure function, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/pack/decode/source_image.h"

namespace shardmill {

namespace proto {
class Statistics;
}  // namespace proto

// Appends, per channel, the sum and the sum of squared differences from the mean over the spans of
// each row; row after row, so that the same record has the same sums. `pixels` holds rows of
// `width` * `channels` floats, all of them finite, aligned or not.
void AddFloatSums(const uint8_t* pixels, size_t width, size_t channels,
                  const std::vector<PixelSpan>& rows, proto::Statistics* statistics);

}  // namespace shardmill
