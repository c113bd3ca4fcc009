// ENet (Paszke and others, 2016): a small network of bottlenecks at an eighth of the resolution,
// with dilated and asymmetric convolutions, PReLU, and max-unpooling on the way back.
#pragma once

#include <cstdint>

#include "trainer/graph/model_spec.h"

namespace shardmill {

// `width` is the channels behind the initial block, 16 in the paper; the stages have 4 and 8 times
// as many. REQUIRES: positive numbers, width > input_channels.
ModelSpec EnetSpec(int64_t input_channels, int64_t classes, int64_t width);

}  // namespace shardmill
