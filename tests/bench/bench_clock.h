// The clock of the trainer's benchmarks.
#pragma once

#include <omp.h>
#include <time.h>

namespace shardmill {

// Wall time; with one OpenMP thread the time that this process had a processor.
inline double BenchMilliseconds() {
  timespec now = {};
  clock_gettime(omp_get_max_threads() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace shardmill
