// The bias of convolutions where oneDNN's own way with it is slow: it makes a transposed
// convolution up to eight times slower, and the weight gradient of a 1×1 convolution three times.
#pragma once

#include <cstdint>

#include "trainer/graph/tensor.h"
#include "trainer/ops/op_shapes.h"

namespace shardmill {

// Enough for both.
int64_t BiasWorkspaceBytes(const Shape& shape);
// y = activation(y + bias) for each pixel; `bias` may be null.
void AddBias(const Shape& shape, Activation activation, const float* bias, float* y,
             void* workspace);
// dbias = sum of dy over all pixels.
void SumToBias(const Shape& shape, const float* dy, float* dbias, void* workspace);

}  // namespace shardmill
