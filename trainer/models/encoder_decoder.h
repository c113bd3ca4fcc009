// A plain encoder and decoder without connections between them, of the shape of VGG-16 and its
// mirror image: five stages of 3 × 3 convolutions with max pooling, then five of transposed
// convolutions. Any image size: pooling rounds up, and the end is cropped to the images.
#pragma once

#include <cstdint>

#include "trainer/graph/model_spec.h"

namespace shardmill {

// Channels are `width` in the first stage and double up to 8 × width. REQUIRES: positive numbers.
ModelSpec EncoderDecoderSpec(int64_t input_channels, int64_t classes, int64_t width);

}  // namespace shardmill
