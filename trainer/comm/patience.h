// How a rank waits: polls at once, then yields, then sleeps; and how long it has waited.
#pragma once

#include <cstdint>

namespace shardmill {

class Patience {
 public:
  Patience();

  // Call between two polls.
  void Pause();

  // Seconds since construction, as far as this process was running: the time during which it was
  // itself stopped or suspended says nothing about the others.
  double waited_seconds() const { return static_cast<double>(waited_nanoseconds_) * 1e-9; }

 private:
  int64_t last_nanoseconds_;
  int64_t waited_nanoseconds_ = 0;
  int polls_ = 0;
};

}  // namespace shardmill
