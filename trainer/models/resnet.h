// ResNet-18 (He and others, 2016) for images with one class each.
#pragma once

#include <cstdint>

#include "trainer/graph/model_spec.h"

namespace shardmill {

// `width` is the channels of the first stage, 64 in the paper; they double per stage. REQUIRES:
// positive numbers.
ModelSpec ResNet18Spec(int64_t input_channels, int64_t classes, int64_t width);

}  // namespace shardmill
