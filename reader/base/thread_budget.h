// How many threads this process should use: the CPUs it may run on, shared with the other ranks
// on the same host.
#pragma once

#include "reader/base/status.h"

namespace shardmill {

// More than any machine here has; a larger number is a mistake.
constexpr int kMaxThreads = 1024;

// CPUs in the affinity mask of this process (taskset, cgroup cpusets, mpirun's binding); at
// least 1.
int AllowedCpus();

// floor(cpus / local_ranks), at least 1.
int ThreadsPerRank(int cpus, int local_ranks);

// What `--jobs` or `--threads` means: 0 asks for all CPUs of this rank's share. InvalidArgument
// for negative numbers and above kMaxThreads.
Result<int> ResolveThreads(int requested, int local_ranks);

}  // namespace shardmill
