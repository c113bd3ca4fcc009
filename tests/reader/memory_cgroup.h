// A memory cgroup of its own for a child process, where the system grants one.
#pragma once

#include <cstdint>
#include <string>

namespace shardmill {

// Version 1 or 2, whichever has the memory controller. The group is removed with the object.
class MemoryCgroup {
 public:
  explicit MemoryCgroup(uint64_t limit_bytes);
  ~MemoryCgroup();
  MemoryCgroup(const MemoryCgroup&) = delete;
  MemoryCgroup& operator=(const MemoryCgroup&) = delete;

  // Why there is no group, or empty.
  const std::string& refused() const { return refused_; }
  // The calling process becomes a member. Async-signal-safe enough for a child after fork().
  bool Join() const;
  // The most that its members used at once, page cache included; 0 when the kernel does not tell.
  uint64_t PeakBytes() const;

 private:
  std::string folder_;
  bool version2_ = false;
  std::string refused_;
};

}  // namespace shardmill
