// Finds out which keys may occur twice, from 64 bits of hash for each.
//
// Each thread gathers the hashes it meets; afterwards those that were met more than once are
// searched for. Memory is bounded: when the hashes of all threads together exceed the budget, the
// upper half of their range is given up, and the caller looks at the rest in another pass.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace shardmill {

// The part of the hashes that one pass looks at. Shared by the threads.
class HashRange {
 public:
  static constexpr uint32_t kParts = 256;  // by the upper 8 bits of a hash

  // Parts [begin, 256) to start with; at least one part is kept, whatever the budget.
  HashRange(uint32_t begin, uint64_t max_hashes) : begin_(begin), max_hashes_(max_hashes) {}

  uint32_t begin() const { return begin_; }
  uint32_t end() const { return end_.load(std::memory_order_relaxed); }
  // Counts hashes that were added or given up; gives up half of the range when there are too many.
  void Count(int64_t hashes);

 private:
  const uint32_t begin_;
  const uint64_t max_hashes_;
  std::atomic<uint32_t> end_{kParts};
  std::atomic<int64_t> hashes_{0};
};

// The hashes of one thread. Not for concurrent use.
class KeyHashes {
 public:
  explicit KeyHashes(HashRange* range) : range_(range), end_(range->end()) {}

  void Add(uint64_t hash) {
    const uint32_t part = static_cast<uint32_t>(hash >> 56);
    if (part - range_->begin() >= end_ - range_->begin()) return;
    Part& to = parts_[part];
    if (to.next == to.end && !Grow(part)) return;
    *to.next++ = hash;
  }

  const HashRange& range() const { return *range_; }
  // Calls visit(hashes, count) for each piece of a part.
  template <typename Visit>
  void ForEach(uint32_t part, Visit visit) const {
    const Part& from = parts_[part];
    for (size_t i = 0; i < from.chunks.size(); ++i) {
      const bool is_last = i + 1 == from.chunks.size();
      visit(from.chunks[i].get(),
            is_last ? kChunkHashes - static_cast<uint64_t>(from.end - from.next) : kChunkHashes);
    }
  }

 private:
  static constexpr uint64_t kChunkHashes = 512;
  struct Part {
    uint64_t* next = nullptr;  // the room in the last chunk
    uint64_t* end = nullptr;
    std::vector<std::unique_ptr<uint64_t[]>> chunks;
  };

  bool Grow(uint32_t part);

  HashRange* range_;
  uint32_t end_;  // as this thread knows it
  std::array<Part, HashRange::kParts> parts_;
};

// The hashes in the range that occur more than once in all gatherings together, in ascending
// order. All gatherings must be of the same range, which must not be in use any more.
std::vector<uint64_t> RepeatedHashes(const std::vector<std::unique_ptr<KeyHashes>>& gathered);

}  // namespace shardmill
