// The plans of one device: from the cache where it has them, else built and put there.
//
// Not for concurrent use; the plans may be used by any thread, one at a time each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

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
};

class ConvolutionPlans {
 public:
  // `cache` may be null and must outlive the plans.
  ConvolutionPlans(DeviceDescription device, PlanCache* cache);

  // The plan stays valid as long as this object. InvalidArgument when cuDNN has none: always
  // possible for a problem with bias or activation, which then run on their own.
  Result<const ExecutionPlan*> Find(const ConvolutionProblem& problem);

  const PlanCounts& counts() const { return counts_; }
  const std::string& device_name() const { return device_.name(); }

 private:
  struct Entry {
    Status status;
    std::optional<ExecutionPlan> plan;
  };
  // Nothing when the cache does not have it or cuDNN does not accept it.
  std::optional<Entry> Load(const PlanKey& key);
  Entry Build(const ConvolutionProblem& problem, const PlanKey& key);

  DeviceDescription device_;
  PlanCache* cache_;
  std::map<std::string, Entry> entries_;  // by ProblemText
  PlanCounts counts_;
};

}  // namespace shardmill
