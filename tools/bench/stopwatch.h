// Wall time and CPU time of a piece of work.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace shardmill {

// CPU time is of all threads of the process; it is less disturbed by other programs.
struct Rate {
  double seconds = 0;
  double cpu_seconds = 0;
  uint64_t records = 0;

  bool measured() const { return seconds > 0; }
  double per_second() const { return static_cast<double>(records) / seconds; }
  double cpu_seconds_per_1000() const { return 1000 * cpu_seconds / static_cast<double>(records); }
};

class Stopwatch {
 public:
  Stopwatch() : start_(Clock::now()), cpu_start_(CpuSeconds()) {}

  Rate Stop(uint64_t records) const {
    return {std::chrono::duration<double>(Clock::now() - start_).count(), CpuSeconds() - cpu_start_,
            records};
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double CpuSeconds() {
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  Clock::time_point start_;
  double cpu_start_;
};

}  // namespace shardmill
