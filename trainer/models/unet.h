// U-Net: `depth` times (double convolution, max pooling), a double convolution at the bottom,
// then as often (transposed convolution, concatenation with the equally large encoder value,
// double convolution), and a 1×1 convolution to the classes.
//
// A double convolution is twice 3×3 convolution without bias, batch norm, ReLU. Channels are
// `width` at full size and double with each halving. Any image of at least 2^depth × 2^depth
// works; see kConcat in model_spec.h for sizes that do not halve evenly.
#pragma once

#include <cstdint>

#include "reader/base/status.h"
#include "trainer/graph/model_spec.h"

namespace shardmill {

struct UnetOptions {
  int64_t input_channels = 3;
  int64_t classes = 0;  // required
  int64_t width = 8;
  int64_t depth = 4;
};

Result<ModelSpec> UnetSpec(const UnetOptions& options);

}  // namespace shardmill
