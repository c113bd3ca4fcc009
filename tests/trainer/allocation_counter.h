// Counts the calls of operator new (which the host backends use too) of the whole program.
#pragma once

#include <cstdint>

namespace shardmill {

// Counts from its construction on. Counting is global: one counter at a time.
class AllocationCounter {
 public:
  AllocationCounter();
  int64_t allocations() const;
  int64_t largest_bytes() const;
};

}  // namespace shardmill
