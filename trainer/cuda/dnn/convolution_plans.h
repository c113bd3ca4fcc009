// The plans of one device: from the cache where it has them, else built and put there.
//
// Not for concurrent use; the plans may be used by any thread, one at a time each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/cuda/dnn/convolution_problem.h"
#include "trainer/cuda/dnn/execution_plan.h"
#include "trainer/cuda/dnn/plan_cache.h"

namespace shardmill {

// "cuDNN 9.19.0", of the library that this process has loaded.
std::string DnnLibraryName();

// cuDNN may not ask for more scratch memory than this for one convolution.
constexpr int64_t kMostDnnWorkspaceBytes = int64_t{1} << 30;

struct PlanCounts {
  int64_t built = 0;    // cuDNN's heuristics were asked
  int64_t loaded = 0;   // taken from the cache
  int64_t refused = 0;  // in the cache, but not accepted by cuDNN: built anew
  int64_t failed = 0;   // accepted, but failed when it ran: see Replace
};

class ConvolutionPlans {
 public:
  // `cache` may be null and must outlive the plans.
  ConvolutionPlans(DeviceDescription device, PlanCache* cache);

  // Plans stay valid as long as this object. InvalidArgument when cuDNN has none: always possible
  // for a problem with bias or activation, which then run on their own.
  Result<const ExecutionPlan*> Find(const ConvolutionProblem& problem);
  // For the first of the problems that has a plan; `taken` receives its number. Each does less than
  // the one before. That those before it have none is kept in the cache as well, for this plan
  // shows that cuDNN is whole. That the last has none is not kept: it is the end of the run, and
  // the next one, with a cuDNN that was repaired, must ask again.
  Result<const ExecutionPlan*> FindFirst(const std::vector<ConvolutionProblem>& problems,
                                         int* taken);
  // One that needs no more workspace than this.
  Result<const ExecutionPlan*> FindWithin(const ConvolutionProblem& problem, int64_t most_bytes);

  // `plan`, which Find gave for the problem, has failed when it ran: the next one of the heuristics
  // takes its place, also in the cache, unless an earlier call did that already. Where no other
  // needs at most `most_bytes`, the entry of the cache is dropped and the error says so.
  Result<const ExecutionPlan*> Replace(const ConvolutionProblem& problem, const ExecutionPlan* plan,
                                       int64_t most_bytes);

  const PlanCounts& counts() const { return counts_; }
  const std::string& device_name() const { return device_.name(); }

 private:
  struct Entry {
    Status status;
    std::unique_ptr<ExecutionPlan> plan;
    std::set<std::string> failed;  // names of plans
  };
  // Nothing when the cache does not have it or cuDNN does not accept it.
  std::optional<Entry> Load(const PlanKey& key);
  Entry Build(const ConvolutionProblem& problem, const PlanKey& key);
  Result<ExecutionPlan> BuildWithin(const ConvolutionProblem& problem, int64_t most_bytes,
                                    const std::set<std::string>& failed);
  PlanKey KeyOf(const ConvolutionProblem& problem) const;
  void RememberNone(const ConvolutionProblem& problem);
  void Remember(const PlanKey& key, const ExecutionPlan& plan);

  DeviceDescription device_;
  PlanCache* cache_;
  std::map<std::string, Entry> entries_;  // by ProblemText
  // Plans that entries no longer have or never had.
  std::vector<std::unique_ptr<ExecutionPlan>> others_;
  PlanCounts counts_;
};

}  // namespace shardmill
