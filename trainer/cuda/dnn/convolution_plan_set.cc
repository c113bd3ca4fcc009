#include "trainer/cuda/dnn/convolution_plan_set.h"

#include <algorithm>

namespace shardmill {
namespace {

constexpr int kForward = static_cast<int>(ConvolutionPass::kForward);

// Only what writes the small grid can end in more.
bool CanAddBias(const ConvolutionShape& shape) { return shape.bias && !shape.transposed; }

}  // namespace

int64_t ConvolutionPlanSet::WorkspaceBytes() const {
  int64_t bytes = 0;
  for (const ExecutionPlan* plan : plans) bytes = std::max(bytes, plan->workspace_bytes());
  return bytes;
}

Result<ConvolutionPlanSet> ConvolutionPlanSet::Find(const ConvolutionShape& shape, MathMode math,
                                                    bool deterministic, ConvolutionPlans* plans) {
  RETURN_IF_ERROR(shape.Check());
  ConvolutionPlanSet set;
  for (int i = 0; i < 3; ++i) {
    set.problems[i] = ProblemOf(shape, static_cast<ConvolutionPass>(i), math, deterministic);
  }
  if (CanAddBias(shape)) {
    ConvolutionProblem with_bias = set.problems[kForward];
    with_bias.bias = true;
    if (const auto plan = plans->Find(with_bias); plan.ok()) {
      set.plans[kForward] = *plan;
      set.problems[kForward] = with_bias;
      set.adds_bias = true;
    }
  }
  for (int i = 0; i < 3; ++i) {
    if (set.plans[i] != nullptr) continue;
    ASSIGN_OR_RETURN(set.plans[i], plans->Find(set.problems[i]));
  }
  return set;
}

}  // namespace shardmill
