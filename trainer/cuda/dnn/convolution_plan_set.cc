#include "trainer/cuda/dnn/convolution_plan_set.h"

#include <algorithm>

namespace shardmill {
namespace {

constexpr int kForward = static_cast<int>(ConvolutionPass::kForward);

int PassesOf(const ConvolutionShape& shape) { return shape.forward_only ? 1 : 3; }

// What does less at once than the problem, most first.
std::vector<ConvolutionProblem> LesserProblems(ConvolutionProblem problem) {
  std::vector<ConvolutionProblem> lesser;
  if (problem.activation != Activation::kNone) {
    problem.activation = Activation::kNone;
    lesser.push_back(problem);
  }
  if (problem.bias) {
    problem.bias = false;
    lesser.push_back(problem);
  }
  return lesser;
}

}  // namespace

std::vector<ConvolutionProblem> ForwardProblems(const ConvolutionShape& shape, MathMode math,
                                                bool deterministic) {
  ConvolutionProblem whole = ProblemOf(shape, ConvolutionPass::kForward, math, deterministic);
  if (whole.direction == ConvolutionDirection::kToSmall) {
    whole.bias = shape.bias;
    whole.activation = shape.activation;
  }
  std::vector<ConvolutionProblem> problems = LesserProblems(whole);
  problems.insert(problems.begin(), whole);
  return problems;
}

Result<ConvolutionPlanSet> ConvolutionPlanSet::Find(const ConvolutionShape& shape, MathMode math,
                                                    bool deterministic, ConvolutionPlans* plans) {
  RETURN_IF_ERROR(shape.Check());
  ConvolutionPlanSet set;
  for (int pass = 0; pass < PassesOf(shape); ++pass) {
    set.problems[pass] = ProblemOf(shape, static_cast<ConvolutionPass>(pass), math, deterministic);
  }
  for (int pass = 0; pass < PassesOf(shape); ++pass) {
    const auto problems = pass == kForward ? ForwardProblems(shape, math, deterministic)
                                           : std::vector<ConvolutionProblem>{set.problems[pass]};
    int taken = 0;
    ASSIGN_OR_RETURN(set.plans[pass], plans->FindFirst(problems, &taken));
    set.problems[pass] = problems[taken];
    set.workspace_bytes = std::max(set.workspace_bytes, set.plans[pass]->workspace_bytes());
  }
  return set;
}

Status ConvolutionPlanSet::Replace(ConvolutionPass pass, ConvolutionPlans* finder) {
  const int number = static_cast<int>(pass);
  auto next = finder->Replace(problems[number], plans[number], workspace_bytes);
  if (next.ok()) {
    plans[number] = *next;
    return OkStatus();
  }
  for (const ConvolutionProblem& lesser : LesserProblems(problems[number])) {
    const auto plan = finder->FindWithin(lesser, workspace_bytes);
    if (!plan.ok()) continue;
    problems[number] = lesser;
    plans[number] = *plan;
    return OkStatus();
  }
  return next.status();
}

}  // namespace shardmill
