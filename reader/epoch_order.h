// The order of an epoch as a pure function: record = order(seed, epoch, split, position).
//
// A KeyedPermutation whose key is the hash of (seed, epoch, split, version): O(1) memory above
// 65,536 records, any position in O(1), so an epoch can be entered anywhere by any number of
// ranks. The mapping is versioned: kEpochOrderVersion is part of the key and changes with any
// change of the function.
//
// Immutable after construction; safe for concurrent use.
#pragma once

#include <cstdint>
#include <string_view>

#include "reader/keyed_permutation.h"

namespace shardmill {

constexpr uint32_t kEpochOrderVersion = 1;

class EpochOrder {
 public:
  // `records` may be 0; then there is no position. Split names keep splits independent.
  EpochOrder(uint64_t records, uint64_t seed, uint64_t epoch, std::string_view split)
      : permutation_(records, MakeOrderKey(seed, epoch, split)) {}

  uint64_t records() const { return permutation_.size(); }
  // Requires position < records().
  uint64_t At(uint64_t position) const { return permutation_.At(position); }
  // The position of a record: the inverse of At().
  uint64_t PositionOf(uint64_t record) const { return permutation_.PositionOf(record); }
  // Writes order[first], order[first + 1], … `count` of them, to `out`.
  void Fill(uint64_t first, uint64_t count, uint64_t* out) const {
    permutation_.Fill(first, count, out);
  }

 private:
  KeyedPermutation permutation_;
};

// Positions [first, second) of a global batch of `batch_records` that rank `rank` of `ranks`
// takes: [floor(G r / W), floor(G (r + 1) / W)). Exact for any G and W below 2^32.
struct RankSlice {
  uint64_t begin = 0;
  uint64_t end = 0;
};
RankSlice SliceForRank(uint64_t batch_records, uint32_t rank, uint32_t ranks);

}  // namespace shardmill
