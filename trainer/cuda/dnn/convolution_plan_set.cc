#include "trainer/cuda/dnn/convolution_plan_set.h"

#include <algorithm>

namespace shardmill {
namespace {

constexpr int kForward = static_cast<int>(ConvolutionPass::kForward);

// Padded images have no gradient.
std::vector<int> PassesOf(const ConvolutionShape& shape) {
  if (shape.forward_only) return {0};
  return shape.zero_channels > 0 ? std::vector<int>{0, 2} : std::vector<int>{0, 1, 2};
}

// What does less than the problem, most first: less at once, or gradients that are rounded to
// bf16.
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
  if (problem.wide_gradient) {
    problem.wide_gradient = false;
    lesser.push_back(problem);
  }
  return lesser;
}

std::vector<ConvolutionProblem> WithLesser(const ConvolutionProblem& problem) {
  std::vector<ConvolutionProblem> problems = LesserProblems(problem);
  problems.insert(problems.begin(), problem);
  return problems;
}

}  // namespace

std::vector<ConvolutionProblem> ForwardProblems(const ConvolutionShape& shape, MathMode math,
                                                bool deterministic) {
  ConvolutionProblem whole = ProblemOf(shape, ConvolutionPass::kForward, math, deterministic);
  if (whole.direction == ConvolutionDirection::kToSmall) {
    whole.bias = shape.bias;
    whole.activation = shape.activation;
  }
  return WithLesser(whole);
}

Result<ConvolutionPlanSet> ConvolutionPlanSet::Find(const ConvolutionShape& shape, MathMode math,
                                                    bool deterministic, ConvolutionPlans* plans) {
  RETURN_IF_ERROR(shape.Check());
  ConvolutionPlanSet set;
  for (const int pass : PassesOf(shape)) {
    set.problems[pass] = ProblemOf(shape, static_cast<ConvolutionPass>(pass), math, deterministic);
  }
  for (const int pass : PassesOf(shape)) {
    const auto problems = pass == kForward ? ForwardProblems(shape, math, deterministic)
                                           : WithLesser(set.problems[pass]);
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
