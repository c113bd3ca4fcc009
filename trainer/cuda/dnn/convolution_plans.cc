#include "trainer/cuda/dnn/convolution_plans.h"

#include <utility>

namespace shardmill {
namespace {

Result<ExecutionPlan> BuildPlan(const ConvolutionProblem& problem,
                                const DeviceDescription& device) {
  ASSIGN_OR_RETURN(const ConvolutionGraph graph,
                   ConvolutionGraph::Create(problem, TensorsOf(problem)));
  PlanNeeds needs;
  needs.math = problem.math;
  needs.deterministic = problem.deterministic;
  needs.most_workspace_bytes = kMostDnnWorkspaceBytes;
  return ExecutionPlan::Build(graph, needs, device);
}

Status NoPlan(const ConvolutionProblem& problem, const std::string& device) {
  return InvalidArgumentError("cuDNN has no plan for " + ProblemText(problem) + " on " + device);
}

}  // namespace

std::string DnnLibraryName() {
  const size_t version = cudnnGetVersion();
  return "cuDNN " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

ConvolutionPlans::ConvolutionPlans(DeviceDescription device, PlanCache* cache)
    : device_(std::move(device)), cache_(cache) {}

Result<const ExecutionPlan*> ConvolutionPlans::Find(const ConvolutionProblem& problem) {
  const std::string text = ProblemText(problem);
  auto found = entries_.find(text);
  if (found == entries_.end()) {
    const PlanKey key = {device_.name(), DnnLibraryName(), text};
    std::optional<Entry> entry = Load(key);
    if (!entry) entry = Build(problem, key);
    found = entries_.emplace(text, std::move(*entry)).first;
  }
  const Entry& entry = found->second;
  if (entry.plan) return &*entry.plan;
  return entry.status.ok() ? NoPlan(problem, device_.name()) : entry.status;
}

std::optional<ConvolutionPlans::Entry> ConvolutionPlans::Load(const PlanKey& key) {
  const CachedPlan* cached = cache_ == nullptr ? nullptr : cache_->Find(key);
  if (cached == nullptr) return std::nullopt;
  Entry entry;
  if (!cached->json.empty()) {
    auto plan = ExecutionPlan::FromJson(cached->json, device_);
    if (!plan.ok() || plan->workspace_bytes() != cached->workspace_bytes ||
        plan->workspace_bytes() > kMostDnnWorkspaceBytes) {
      ++counts_.refused;
      return std::nullopt;
    }
    entry.plan = std::move(*plan);
  }
  ++counts_.loaded;
  return entry;
}

ConvolutionPlans::Entry ConvolutionPlans::Build(const ConvolutionProblem& problem,
                                                const PlanKey& key) {
  ++counts_.built;
  auto plan = BuildPlan(problem, device_);
  Entry entry;
  if (!plan.ok()) {
    entry.status = plan.status().WithContext(NoPlan(problem, device_.name()).message());
    // A lack of memory and the like is no property of the problem.
    if (cache_ != nullptr && plan.status().code() == StatusCode::kInvalidArgument) {
      cache_->Put(key, {});
    }
    return entry;
  }
  if (cache_ != nullptr) {
    // Some engines cannot be written down; their plans are built at every start.
    if (const auto json = plan->Json(); json.ok()) {
      cache_->Put(key, {*json, plan->workspace_bytes()});
    }
  }
  entry.plan = std::move(*plan);
  return entry;
}

}  // namespace shardmill
