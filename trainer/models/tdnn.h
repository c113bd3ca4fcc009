// A time-delay network for sequences of feature vectors with one class each: five layers of dilated
// convolutions over time, mean and deviation over the frames, two layers on that (Snyder and
// others, 2018). The number of frames stays the same up to the pooling, so padded batches work.
#pragma once

#include <cstdint>

#include "trainer/graph/model_spec.h"

namespace shardmill {

// `features` per frame; `width` channels of the frame layers (512 in the paper), the last of which
// has about three times as many. REQUIRES: positive numbers.
ModelSpec TdnnSpec(int64_t features, int64_t classes, int64_t width);

}  // namespace shardmill
