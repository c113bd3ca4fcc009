// Descriptions of the operations of the op table: plain numbers, no memory.
#pragma once

#include <cstdint>

#include "reader/base/status.h"
#include "trainer/graph/tensor.h"

namespace shardmill {

// A sliding window. Padding is counted in input elements and read as zero (convolution) or as
// absent (max pooling).
struct Window {
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t dilation_h = 1, dilation_w = 1;  // 1 = dense
};

// A square window with equal padding on all sides.
Window SquareWindow(int64_t kernel, int64_t stride, int64_t pad, int64_t dilation = 1);

enum class Activation { kNone, kRelu, kRelu6 };

// The largest value that an activation lets pass; infinity when there is none.
double ActivationCeiling(Activation activation);

// Weights are [out_channels, kernel_h, kernel_w, WeightChannels() / groups] for both directions.
// The transposed convolution maps an input element to the window of outputs that a convolution with
// the same numbers would have read for it.
struct ConvolutionShape {
  Shape input;
  int64_t out_channels = 0;
  Window window;
  int64_t groups = 1;
  bool transposed = false;
  bool bias = false;
  // What forward ends in, behind the bias. The gradients are those of what stands before it.
  Activation activation = Activation::kNone;
  bool forward_only = false;  // nobody will ask for gradients
  // So many of the last channels of the input are zero in every pixel and have no weights: images
  // that were padded. Such a convolution has no data gradient, and is neither transposed nor in
  // groups.
  int64_t zero_channels = 0;

  Shape Output() const;
  int64_t WeightChannels() const { return input.c - zero_channels; }
  int64_t WeightElements() const;
  // InvalidArgument when a number is out of range or the output would be empty.
  Status Check() const;
};

// The output counts whole windows only (sizes are rounded down).
struct PoolShape {
  Shape input;
  Window window;

  Shape Output() const;
  Status Check() const;  // also: at most 255 elements per window, padding smaller than the kernel
};

// Enlarges height and width by whole factors. Pixel centres lie at + 0.5: bilinear upsampling of a
// coordinate o reads (o + 0.5) / factor - 0.5, edges repeated.
enum class UpsampleMode { kNearest, kBilinear };

struct UpsampleShape {
  Shape input;
  int64_t factor_h = 2, factor_w = 2;
  UpsampleMode mode = UpsampleMode::kBilinear;

  Shape Output() const;
  Status Check() const;
};

// The two input coordinates that an output coordinate mixes: (1 - share) * first + share * second.
struct UpsampleTap {
  int64_t first = 0, second = 0;
  double share = 0;
};
UpsampleTap TapOf(UpsampleMode mode, int64_t output, int64_t factor, int64_t input_size);

// What a backward operation does with the gradient it makes.
enum class GradientMode {
  kOverwrite,  // the destination holds nothing of value
  kAdd,        // another consumer of the same value was there before
};

// Softmax cross-entropy over the channels of `logits`.
struct LossShape {
  Shape logits;
  LabelType label_type = LabelType::kIndexU8;
  // The label that does not count; -1: none. Labels outside [0, classes) never count either.
  int64_t ignore = -1;
};

}  // namespace shardmill
