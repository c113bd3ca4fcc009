// The convolutions of a model, without any memory or computation.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/graph/model_spec.h"
#include "trainer/graph/phase.h"
#include "trainer/ops/op_shapes.h"

namespace shardmill {

struct ModelConvolution {
  std::string layer;
  ConvolutionShape shape;
  bool needs_data_gradient = false;  // in training; not the first layers
};

// In the order of the layers, with what forward ends in: see FuseLayers; for an op table with this
// image_channel_multiple. InvalidArgument when the model is not sound or the images are too small
// for it.
Result<std::vector<ModelConvolution>> ConvolutionsOf(const ModelSpec& model, const Shape& images,
                                                     Phase phase = Phase::kTraining,
                                                     int64_t image_channel_multiple = 1);

}  // namespace shardmill
