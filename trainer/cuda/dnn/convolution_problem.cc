#include "trainer/cuda/dnn/convolution_problem.h"

namespace shardmill {
namespace {

DnnTensor Dense(DnnType type, const Shape& shape) {
  return {type,
          {shape.n, shape.c, shape.h, shape.w},
          {shape.h * shape.w * shape.c, 1, shape.w * shape.c, shape.c}};
}

// How much padding behind to ask for: as much as in front where that gives the same windows, for
// more engines know that case. What lies behind the last window is not read.
int64_t PadBehind(int64_t large, int64_t small, int64_t before, int64_t behind, int64_t kernel,
                  int64_t stride, int64_t dilation) {
  const int64_t room = large + 2 * before - (dilation * (kernel - 1) + 1);
  return room >= 0 && room / stride + 1 == small ? before : behind;
}

std::string SizesText(const char* what, const Shape& shape) {
  return std::string(what) + std::to_string(shape.n) + "x" + std::to_string(shape.h) + "x" +
         std::to_string(shape.w) + "x" + std::to_string(shape.c);
}

std::string PairText(const char* what, int64_t height, int64_t width) {
  return std::string(what) + std::to_string(height) + "x" + std::to_string(width);
}

}  // namespace

int64_t ImageChannelMultiple(MathMode math) {
  switch (math) {
    case MathMode::kBf16:
      return 8;
    case MathMode::kTf32:
      return 4;
    case MathMode::kF32:
      return 1;
  }
  return 1;
}

int64_t ConvolutionProblem::WeightElements() const {
  return small.c * window.kernel_h * window.kernel_w * (large.c / groups);
}

ConvolutionProblem ProblemOf(const ConvolutionShape& shape, ConvolutionPass pass, MathMode math,
                             bool deterministic) {
  ConvolutionProblem problem;
  const bool to_small = (pass == ConvolutionPass::kForward) != shape.transposed;
  problem.direction = pass == ConvolutionPass::kBackwardWeights ? ConvolutionDirection::kWeights
                      : to_small                                ? ConvolutionDirection::kToSmall
                                                                : ConvolutionDirection::kToLarge;
  problem.math = math;
  problem.large = shape.transposed ? shape.Output() : shape.input;
  problem.small = shape.transposed ? shape.input : shape.Output();
  problem.window = shape.window;
  problem.groups = shape.groups;
  problem.deterministic = deterministic;
  problem.wide_gradient =
      math == MathMode::kBf16 && problem.direction == ConvolutionDirection::kWeights;
  return problem;
}

std::string ProblemText(const ConvolutionProblem& problem) {
  const char* const directions[] = {"to_small", "to_large", "weights"};
  const char* const activations[] = {"", ":relu", ":relu6"};
  const Window& window = problem.window;
  const ConvolutionTensors tensors = TensorsOf(problem);
  return std::string(directions[static_cast<int>(problem.direction)]) + ":" +
         MathModeName(problem.math) + ":nhwc:" + SizesText("large", problem.large) + ":" +
         SizesText("small", problem.small) + ":" +
         PairText("kernel", window.kernel_h, window.kernel_w) + ":" +
         PairText("stride", window.stride_h, window.stride_w) + ":" +
         PairText("dilation", window.dilation_h, window.dilation_w) + ":" +
         PairText("before", tensors.pad_before[0], tensors.pad_before[1]) + ":" +
         PairText("behind", tensors.pad_behind[0], tensors.pad_behind[1]) + ":groups" +
         std::to_string(problem.groups) + (problem.bias ? ":bias" : "") +
         activations[static_cast<int>(problem.activation)] +
         (problem.deterministic ? ":deterministic" : "") +
         (problem.wide_gradient ? ":gradient_f32" : "");
}

ConvolutionTensors TensorsOf(const ConvolutionProblem& problem) {
  const DnnType type = problem.math == MathMode::kBf16 ? DnnType::kBf16 : DnnType::kF32;
  const Window& window = problem.window;
  ConvolutionTensors tensors;
  tensors.large = Dense(type, problem.large);
  tensors.small = Dense(type, problem.small);
  tensors.weights =
      Dense(problem.wide_gradient ? DnnType::kF32 : type,
            {problem.small.c, window.kernel_h, window.kernel_w, problem.large.c / problem.groups});
  tensors.bias = Dense(type, {1, 1, 1, problem.small.c});
  tensors.pad_before = {window.pad_top, window.pad_left};
  tensors.pad_behind = {
      PadBehind(problem.large.h, problem.small.h, window.pad_top, window.pad_bottom,
                window.kernel_h, window.stride_h, window.dilation_h),
      PadBehind(problem.large.w, problem.small.w, window.pad_left, window.pad_right,
                window.kernel_w, window.stride_w, window.dilation_w)};
  return tensors;
}

std::string MathModeName(MathMode math) {
  const char* const names[] = {"bf16", "tf32", "f32"};
  return names[static_cast<int>(math)];
}

std::string PassName(ConvolutionPass pass) {
  const char* const names[] = {"forward", "data gradient", "weight gradient"};
  return names[static_cast<int>(pass)];
}

}  // namespace shardmill
