// From the description of a layer to its parameters and to the layer itself.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "reader/base/status.h"
#include "trainer/graph/model_spec.h"
#include "trainer/graph/parameters.h"
#include "trainer/layers/layer.h"

namespace shardmill {

// The channels that a layer makes of inputs with these channels. InvalidArgument when the layer
// cannot take them.
Result<int64_t> OutputChannels(const LayerSpec& spec, const std::vector<int64_t>& input_channels);

// Adds the parameters of a layer to the store. REQUIRES: OutputChannels accepted the inputs.
LayerParameters DeclareParameters(const LayerSpec& spec, int64_t input_channels,
                                  ParameterStore* store);

// What a layer is prepared for.
struct LayerPlace {
  // Of its inputs; for a kMaxUnpool followed by the input of the kMaxPool that it undoes, whose
  // window is that of the spec, for a kCropToImages by the images.
  std::vector<Shape> inputs;
  Phase phase = Phase::kTraining;
  LayerFusion fusion = {};
  const LayerParameters* norm = nullptr;  // of the layer fusion.norm; null: there is none
};

// Whether a convolution makes more numbers of one image than it has weights, so that folding a
// batch norm into these is less work than the batch norm. Says the same for all batches of such
// images, whatever their rows and, of sequences (height 1), their padding: folding rounds
// otherwise, and results must not depend on batch size or ranks. Also false where the convolution
// cannot take such an input at all.
bool FoldingPays(const LayerSpec& convolution, const Shape& input);

// `context` must outlive the layer.
Result<std::unique_ptr<Layer>> PrepareLayer(const LayerSpec& spec,
                                            const LayerParameters& parameters,
                                            const LayerPlace& place, const LayerContext* context);

}  // namespace shardmill
