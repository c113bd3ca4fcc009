// The block that U-Net and the classifier are made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/graph/model_spec.h"

namespace shardmill {

// Appends twice (3×3 convolution without bias, batch norm, ReLU), named `prefix`/convolution1,
// /norm1, …, and returns the name of the value it makes.
std::string AppendDoubleConvolution(const std::string& prefix, const std::string& input,
                                    int64_t channels, std::vector<LayerSpec>* layers);

// Appends 2×2 max pooling.
std::string AppendHalving(const std::string& name, const std::string& input,
                          std::vector<LayerSpec>* layers);

}  // namespace shardmill
