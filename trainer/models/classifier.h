// A small classification network: per stage a double convolution as in U-Net and max pooling,
// then global average pooling and a linear layer.
#pragma once

#include <cstdint>

#include "reader/base/status.h"
#include "trainer/graph/model_spec.h"

namespace shardmill {

struct ClassifierOptions {
  int64_t input_channels = 3;
  int64_t classes = 0;  // required
  int64_t width = 8;    // channels of the first stage; they double per stage
  int64_t stages = 3;   // images of at least 2^stages × 2^stages
};

Result<ModelSpec> ClassifierSpec(const ClassifierOptions& options);

}  // namespace shardmill
