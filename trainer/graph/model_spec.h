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
  kRelu,                   // activation: kRelu (also for kNone) or kRelu6
  kPrelu,                  // a trained slope per channel
  kMaxPool,                // window
  kAveragePool,            // window; of the elements inside of the input
  kMaxUnpool,              // indices_of: puts values where that kMaxPool took its maxima
  kGlobalAveragePool,      // n × h × w × c → n × 1 × 1 × c
  kStatisticsPool,  // n × 1 × t × c → n × 1 × 1 × 2c: mean and deviation over the frames
  kUpsample,        // factor, upsample_mode
  kConcat,          // one or more inputs; the first gives height and width, see below
  kAdd,             // one or more inputs, activation; the first gives the shape, see below
  kCropToImages,    // cuts height and width down to those of the images
  kDropout,         // drop, whole_channels; evaluation lets everything pass
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
  std::string indices_of;  // the name of a kMaxPool before, whose windows do not overlap
  int64_t factor = 2;
  UpsampleMode upsample_mode = UpsampleMode::kBilinear;
  double drop = 0;              // probability, in [0, 1)
  bool whole_channels = false;  // drops channels of an image instead of single elements
};

// What a kRelu does.
inline Activation ReluOf(const LayerSpec& relu) {
  return relu.activation == Activation::kNone ? Activation::kRelu : relu.activation;
}

// kConcat takes inputs of unequal height and width: the first gives the size, the others share
// its top left corner and are cropped, or padded with zeros, at the bottom and the right. So a
// U-Net takes any size that its pooling layers can halve, not only multiples of 16. kAdd does the
// same; its other inputs may also have fewer channels than the first, and then add nothing to the
// last ones.
//
// Sequences are images of height 1. Where a batch is padded (ImageBatch::lengths), every value of
// the width of the input is held at zero behind the length of its row, and neither batch norm nor
// kStatisticsPool counts what is there: a sequence gives the same logits however long its padding.
struct ModelSpec {
  std::string name;  // "unet"
  int64_t input_channels = 3;
  std::vector<LayerSpec> layers;  // the last one makes the logits
};

}  // namespace shardmill
