// A model description that was checked: names are numbers, channels are known, parameters are
// declared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/graph/model_spec.h"
#include "trainer/graph/parameters.h"
#include "trainer/layers/layer.h"

namespace shardmill {

// Value 0 is the normalised images, value i + 1 what layer i makes.
struct ResolvedLayer {
  LayerSpec spec;
  std::vector<int> inputs;  // values
  int64_t channels = 0;     // of the output
  LayerParameters parameters;
  int pool_layer = -1;          // of a kMaxUnpool: the layer that its indices_of names
  bool needs_gradient = false;  // there are parameters here or before
};

struct ResolvedModel {
  int64_t input_channels = 0;
  int dropout_layers = 0;
  std::vector<ResolvedLayer> layers;

  int values() const { return static_cast<int>(layers.size()) + 1; }
  bool ValueNeedsGradient(int value) const { return value > 0 && layers[value - 1].needs_gradient; }
  int Consumers(int value) const;  // how often the value is read
};

// InvalidArgument names the layer and what is wrong with it: a name used twice, an input that no
// earlier layer makes, channels that do not fit, a value that nobody reads, nothing to train.
Result<ResolvedModel> ResolveModel(const ModelSpec& spec, ParameterStore* store);

}  // namespace shardmill
