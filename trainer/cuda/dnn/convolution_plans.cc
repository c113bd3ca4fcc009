#include "trainer/cuda/dnn/convolution_plans.h"

#include <utility>

namespace shardmill {
namespace {

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

PlanKey ConvolutionPlans::KeyOf(const ConvolutionProblem& problem) const {
  return {device_.name(), DnnLibraryName(), ProblemText(problem)};
}

Result<const ExecutionPlan*> ConvolutionPlans::Find(const ConvolutionProblem& problem) {
  const PlanKey key = KeyOf(problem);
  auto found = entries_.find(key.problem);
  if (found == entries_.end()) {
    std::optional<Entry> entry = Load(key);
    if (!entry) entry = Build(problem, key);
    found = entries_.emplace(key.problem, std::move(*entry)).first;
  }
  const Entry& entry = found->second;
  if (entry.plan) return static_cast<const ExecutionPlan*>(entry.plan.get());
  return entry.status.ok() ? NoPlan(problem, device_.name()) : entry.status;
}

Result<const ExecutionPlan*> ConvolutionPlans::FindFirst(
    const std::vector<ConvolutionProblem>& problems, int* taken) {
  Status none = InternalError("no problem was asked for");
  for (size_t i = 0; i < problems.size(); ++i) {
    const auto plan = Find(problems[i]);
    if (!plan.ok()) {
      none = plan.status();
      continue;
    }
    for (size_t k = 0; k < i; ++k) RememberNone(problems[k]);
    *taken = static_cast<int>(i);
    return plan;
  }
  return none;
}

// A lack of memory and the like, and plans that failed when they ran, are no property of the
// problem.
void ConvolutionPlans::RememberNone(const ConvolutionProblem& problem) {
  const PlanKey key = KeyOf(problem);
  const Entry& entry = entries_[key.problem];
  const bool has_none = entry.status.code() == StatusCode::kInvalidArgument && entry.failed.empty();
  if (cache_ != nullptr && has_none && cache_->Find(key) == nullptr) cache_->Put(key, {});
}

Result<const ExecutionPlan*> ConvolutionPlans::FindWithin(const ConvolutionProblem& problem,
                                                          int64_t most_bytes) {
  ASSIGN_OR_RETURN(const ExecutionPlan* const usual, Find(problem));
  if (usual->workspace_bytes() <= most_bytes) return usual;
  ASSIGN_OR_RETURN(ExecutionPlan small,
                   BuildWithin(problem, most_bytes, entries_[ProblemText(problem)].failed));
  others_.push_back(std::make_unique<ExecutionPlan>(std::move(small)));
  return static_cast<const ExecutionPlan*>(others_.back().get());
}

Result<const ExecutionPlan*> ConvolutionPlans::Replace(const ConvolutionProblem& problem,
                                                       const ExecutionPlan* plan,
                                                       int64_t most_bytes) {
  Entry& entry = entries_[ProblemText(problem)];
  if (entry.failed.insert(plan->name()).second) ++counts_.failed;
  if (entry.plan && entry.failed.count(entry.plan->name()) == 0) {
    return FindWithin(problem, most_bytes);
  }
  if (entry.plan) others_.push_back(std::move(entry.plan));
  auto next = BuildWithin(problem, most_bytes, entry.failed);
  if (!next.ok()) {
    entry.status = next.status().WithContext(NoPlan(problem, device_.name()).message());
    if (cache_ != nullptr) cache_->Drop(KeyOf(problem));
    return entry.status;
  }
  entry.plan = std::make_unique<ExecutionPlan>(std::move(*next));
  Remember(KeyOf(problem), *entry.plan);
  return static_cast<const ExecutionPlan*>(entry.plan.get());
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
    entry.plan = std::make_unique<ExecutionPlan>(std::move(*plan));
  }
  ++counts_.loaded;
  return entry;
}

Result<ExecutionPlan> ConvolutionPlans::BuildWithin(const ConvolutionProblem& problem,
                                                    int64_t most_bytes,
                                                    const std::set<std::string>& failed) {
  ++counts_.built;
  ASSIGN_OR_RETURN(const ConvolutionGraph graph,
                   ConvolutionGraph::Create(problem, TensorsOf(problem)));
  const PlanNeeds needs = {problem.math, problem.deterministic, most_bytes, failed};
  return ExecutionPlan::Build(graph, needs, device_);
}

// Some engines cannot be written down; their plans are built at every start.
void ConvolutionPlans::Remember(const PlanKey& key, const ExecutionPlan& plan) {
  if (cache_ == nullptr) return;
  if (!plan.json().empty()) {
    cache_->Put(key, {plan.json(), plan.workspace_bytes()});
  } else if (cache_->Find(key) != nullptr) {
    cache_->Drop(key);
  }
}

ConvolutionPlans::Entry ConvolutionPlans::Build(const ConvolutionProblem& problem,
                                                const PlanKey& key) {
  auto plan = BuildWithin(problem, kMostDnnWorkspaceBytes, {});
  Entry entry;
  if (plan.ok()) {
    Remember(key, *plan);
    entry.plan = std::make_unique<ExecutionPlan>(std::move(*plan));
    return entry;
  }
  entry.status = plan.status().WithContext(NoPlan(problem, device_.name()).message());
  return entry;
}

}  // namespace shardmill
