// A model as a list of layers: what a model description file says, as plain structs.
//
// Layers stand in the order of computation; each names the values it reads. A value is named
// after the layer that makes it; "images" is the normalised input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/ops/op_shapes.h"

namespace shardmill {

enum class LayerKind {
  kConvolution,            // window, channels, groups, bias; also a linear layer (1×1 on 1×1)
  kTransposedConvolution,  // window, channels, groups, bias
  kBatchNorm,              // activation
  kRelu,
  kMaxPool,            // window
  kGlobalAveragePool,  // n × h × w × c → n × 1 × 1 × c
  kConcat,             // two or more inputs; the first gives height and width, see below
};

struct LayerSpec {
  std::string name;  // letters, digits, "_" and "/"; unique
  LayerKind kind = LayerKind::kConvolution;
  std::vector<std::string> inputs;

  int64_t channels = 0;  // of the output, for (transposed) convolutions
  Window window;
  int64_t groups = 1;
  bool bias = false;
  Activation activation = Activation::kNone;
};

// kConcat takes inputs of unequal height and width: the first gives the size, the others share
// its top left corner and are cropped, or padded with zeros, at the bottom and the right. So a
// U-Net takes any size that its pooling layers can halve, not only multiples of 16.
struct ModelSpec {
  std::string name;  // "unet"
  int64_t input_channels = 3;
  std::vector<LayerSpec> layers;  // the last one makes the logits
};

}  // namespace shardmill
