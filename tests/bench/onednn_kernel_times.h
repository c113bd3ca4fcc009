// The yardstick of the training step: each oneDNN primitive that a model needs, timed alone.
//
// Convolutions, transposed convolutions and batch norm with ReLU, forward and backward, on NHWC
// tensors that were touched before, weights in the order that each primitive prefers. Nothing
// else: no pooling, concatenation, loss, optimizer, no reorders. The data gradient of a layer
// that reads the images is left out, as training needs none.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/graph/model_spec.h"
#include "trainer/graph/tensor.h"

namespace shardmill {

struct KernelTime {
  std::string layer;
  std::string direction;    // "forward", "data", "weights", "backward"
  double milliseconds = 0;  // the fastest of `repeats`
};

Result<std::vector<KernelTime>> TimeOnednnKernels(const ModelSpec& model, const Shape& images,
                                                  int repeats);

}  // namespace shardmill
