// The plans of the three passes of one convolution of a model.
//
// The forward plan also adds the bias and applies the activation where cuDNN has such a plan; what
// it does not do is left to kernels. A transposed convolution writes its large grid, and there is
// no plan that ends in more. Nor do plans take sums for batch norm on the way ("genstats"): the
// heuristics of cuDNN 9.19 name no engine for that behind a convolution of U-Net, in any math mode,
// and sums of squares in f32 would lose the digits that the kernels of batch_norm.h keep.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "trainer/cuda/dnn/convolution_plans.h"
#include "trainer/ops/op_shapes.h"

namespace shardmill {

// The forward problems that a shape allows: that which does most at once first, the bare
// convolution last. REQUIRES: shape.Check() is OK.
std::vector<ConvolutionProblem> ForwardProblems(const ConvolutionShape& shape, MathMode math,
                                                bool deterministic);

struct ConvolutionPlanSet {
  // By ConvolutionPass; null where the shape is for forward only, and for the data gradient of
  // padded images. Owned by the ConvolutionPlans.
  std::array<const ExecutionPlan*, 3> plans = {};
  std::array<ConvolutionProblem, 3> problems;
  int64_t workspace_bytes = 0;  // enough for each of them, and for what Replace puts there

  // What the forward plan does beside the convolution.
  bool AddsBias() const { return problems[0].bias; }
  bool Activates() const { return problems[0].activation != Activation::kNone; }
  // Whether the gradients of the weights are rounded to bf16.
  bool RoundsGradient() const {
    return plans[2] != nullptr && problems[2].math == MathMode::kBf16 && !problems[2].wide_gradient;
  }

  // InvalidArgument when the shape is not sound or a pass has no plan.
  static Result<ConvolutionPlanSet> Find(const ConvolutionShape& shape, MathMode math,
                                         bool deterministic, ConvolutionPlans* plans);

  // The plan of the pass was accepted but has failed when it ran: the next one takes its place. A
  // forward plan that no other can replace gives way to one that does less at once.
  Status Replace(ConvolutionPass pass, ConvolutionPlans* plans);
};

}  // namespace shardmill
