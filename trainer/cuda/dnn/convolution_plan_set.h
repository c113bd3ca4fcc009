// The plans of the three passes of one convolution of a model.
#pragma once

#include <array>
#include <cstdint>

#include "reader/base/status.h"
#include "trainer/cuda/dnn/convolution_plans.h"
#include "trainer/ops/op_shapes.h"

namespace shardmill {

struct ConvolutionPlanSet {
  // By ConvolutionPass. Owned by the ConvolutionPlans.
  std::array<const ExecutionPlan*, 3> plans = {};
  std::array<ConvolutionProblem, 3> problems;
  bool adds_bias = false;  // the forward plan does

  int64_t WorkspaceBytes() const;  // enough for each of the three

  // The bias is added by the forward plan where cuDNN has such a plan. InvalidArgument when the
  // shape is not sound or a pass has no plan.
  static Result<ConvolutionPlanSet> Find(const ConvolutionShape& shape, MathMode math,
                                         bool deterministic, ConvolutionPlans* plans);
};

}  // namespace shardmill
