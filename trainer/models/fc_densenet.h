// FC-DenseNet56 (Jegou and others, 2017): five dense blocks down, one at the bottom and five up, of
// four layers each, with connections between blocks of equal size.
#pragma once

#include <cstdint>

#include "trainer/graph/model_spec.h"

namespace shardmill {

// `width` is the channels of the first convolution, 48 in the paper; a dense layer adds a quarter
// of that. REQUIRES: positive numbers, width a multiple of 4.
ModelSpec FcDenseNet56Spec(int64_t input_channels, int64_t classes, int64_t width);

}  // namespace shardmill
