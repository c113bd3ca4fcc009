#include "reader/base/thread_budget.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

namespace shardmill {
namespace {

// The mask must have room for every CPU that the kernel was built for; no kernel has more.
constexpr int kMaxCpus = 1 << 16;

}  // namespace

int AllowedCpus() {
  for (int cpus = CPU_SETSIZE; cpus <= kMaxCpus; cpus *= 2) {
    std::vector<cpu_set_t> mask(cpus / CPU_SETSIZE);
    const size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) {
      return std::max(1, CPU_COUNT_S(bytes, mask.data()));
    }
    if (errno != EINVAL) break;  // EINVAL: the mask is too small
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int ThreadsPerRank(int cpus, int local_ranks) {
  return std::max(1, cpus / std::max(1, local_ranks));
}

Result<int> ResolveThreads(int requested, int local_ranks) {
  if (requested < 0 || requested > kMaxThreads) {
    return InvalidArgumentError("the number of threads is " + std::to_string(requested) +
                                "; it must be 0 (all CPUs) to " + std::to_string(kMaxThreads));
  }
  if (requested > 0) return requested;
  return std::min(kMaxThreads, ThreadsPerRank(AllowedCpus(), local_ranks));
}

}  // namespace shardmill
