// The order of an epoch as a pure function: record = order(seed, epoch, split, position).
//
// A keyed Feistel network over the smallest even-bit domain that holds all records, 8 rounds,
// with cycle walking (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002); for up
// to 65,536 records a Fisher-Yates table from the same key, because small Feistel domains are
// visibly non-uniform. O(1) memory above that, any position in O(1), so an epoch can be entered
// anywhere by any number of ranks. The mapping is versioned: kEpochOrderVersion is part of the
// key and changes with any change of the function.
//
// Immutable after construction; safe for concurrent use.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace shardmill {

constexpr uint32_t kEpochOrderVersion = 1;

class EpochOrder {
 public:
  // `records` may be 0; then there is no position. Split names keep splits independent.
  EpochOrder(uint64_t records, uint64_t seed, uint64_t epoch, std::string_view split);

  uint64_t records() const { return records_; }
  // Requires position < records().
  uint64_t At(uint64_t position) const;
  // Writes order[first], order[first + 1], … `count` of them, to `out`.
  void Fill(uint64_t first, uint64_t count, uint64_t* out) const;

 private:
  uint64_t Permute(uint64_t value) const;
  void FillLanes(uint64_t first, uint64_t lanes, uint64_t* out) const;

  uint64_t records_;
  uint64_t round_keys_[8];
  int half_bits_ = 0;
  std::vector<uint32_t> table_;  // used when records_ <= 65,536
};

// Positions [first, second) of a global batch of `batch_records` that rank `rank` of `ranks`
// takes: [floor(G r / W), floor(G (r + 1) / W)). Exact for any G and W below 2^32.
struct RankSlice {
  uint64_t begin = 0;
  uint64_t end = 0;
};
RankSlice SliceForRank(uint64_t batch_records, uint32_t rank, uint32_t ranks);

}  // namespace shardmill
