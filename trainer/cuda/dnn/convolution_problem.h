// One of the three passes of a convolution as cuDNN sees it: plain numbers, no library.
//
// A plain convolution reads a large grid and writes a small one; its data gradient goes the other
// way. A transposed convolution is the same with the roles swapped: its forward pass is the data
// gradient of the plain convolution that maps its output to its input. So each pass of either kind
// is one of three directions over a large and a small grid.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/ops/op_shapes.h"

namespace shardmill {

enum class ConvolutionPass { kForward, kBackwardData, kBackwardWeights };

enum class ConvolutionDirection { kToSmall, kToLarge, kWeights };

// All sum in f32.
enum class MathMode {
  kBf16,  // bf16 in memory; weight gradients as ConvolutionProblem::wide_gradient says
  kTf32,  // f32 in memory, products of 10 mantissa bits
  kF32,   // f32 throughout, and no algorithm that trades accuracy for speed
};

// See OpTable::image_channel_multiple: tensor cores take channels in pieces of 16 bytes, and cuDNN
// copies what has none before each of its passes.
int64_t ImageChannelMultiple(MathMode math);

struct ConvolutionProblem {
  ConvolutionDirection direction = ConvolutionDirection::kToSmall;
  MathMode math = MathMode::kF32;
  Shape large, small;
  Window window;
  int64_t groups = 1;
  // Added to what kToSmall makes, then the activation applied.
  bool bias = false;
  Activation activation = Activation::kNone;
  bool deterministic = false;  // only plans that give the same bits every time
  // Of kWeights with kBf16: gradients are written as they were summed, in f32. Else each is rounded
  // to bf16 once, before it is added to others and to the moments.
  bool wide_gradient = false;

  // Weights as cuDNN wants them: [small.c, kernel_h, kernel_w, large.c / groups]. Of a transposed
  // convolution with the weights of op_shapes.h, that is another order.
  int64_t WeightElements() const;
};

// REQUIRES: shape.Check() is OK. `bias` of the shape is not part of the problem. The gradients of
// weights are wide.
ConvolutionProblem ProblemOf(const ConvolutionShape& shape, ConvolutionPass pass, MathMode math,
                             bool deterministic);

// An unmistakable text for a problem: two problems have the same text when they have the same
// plans. It has no spaces, and letters, digits, "_", "x", ":" only.
std::string ProblemText(const ConvolutionProblem& problem);

enum class DnnType { kF32, kBf16 };

// A tensor as cuDNN sees it: sizes and strides in elements, ordered batch, channels, height, width
// whatever the order in memory is.
struct DnnTensor {
  DnnType type = DnnType::kF32;
  std::array<int64_t, 4> sizes = {};
  std::array<int64_t, 4> strides = {};
};

// The tensors of a problem. Height and width of the window are as in the problem.
struct ConvolutionTensors {
  DnnTensor large, small, weights;
  DnnTensor bias;
  // Padding in front and behind; height, then width.
  std::array<int64_t, 2> pad_before = {}, pad_behind = {};
};
ConvolutionTensors TensorsOf(const ConvolutionProblem& problem);

std::string MathModeName(MathMode math);     // "bf16", "tf32", "f32"
std::string PassName(ConvolutionPass pass);  // "forward", "data gradient", …

}  // namespace shardmill
