// The inner loop of input normalisation; vectors are periodic (period.h).
#pragma once

#include <cstdint>

#include "trainer/tensor.h"

namespace shardmill {

// y[i] = (images[i] - mean[i]) * factor[i] for `elements` elements, which start at channel 0.
void NormalizePixels(ImageType type, const void* images, int64_t elements, int64_t period,
                     const float* mean, const float* factor, float* y);

}  // namespace shardmill
