// Order::kBlockWindow: the blocks of a split are permuted, then the records within each window of
// successive blocks, so that a set larger than memory is read in runs of a block's length and only
// one window need be in memory at a time.
//
// A block is `block_records` successive records of the split, the last one perhaps fewer. Window w
// holds the blocks at places [wW, (w+1)W) of the permutation. All of it is arithmetic over keyed
// permutations: O(1) memory beside two windows of at most 65,536 records each, and any position in
// the time of one window.
//
// One object belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "reader/keyed_permutation.h"
#include "reader/record_order.h"

namespace shardmill {

class BlockWindowOrder : public RecordOrder {
 public:
  // Requires records < 2^62 and block_records and window_blocks of at least 1.
  BlockWindowOrder(uint64_t records, const BlockWindow& window, uint64_t seed, std::string split);

  uint64_t length() const override { return records_; }
  void StartEpoch(uint64_t epoch) override;
  Status Fill(uint64_t first, uint64_t count, uint64_t* out) override;

 private:
  struct Window {
    uint64_t number = std::numeric_limits<uint64_t>::max();  // of the epoch; none at first
    KeyedPermutation permutation;
  };

  uint64_t FirstOfWindow(uint64_t number) const;
  const KeyedPermutation& PermutationOf(uint64_t window);
  uint64_t RecordAt(uint64_t window, uint64_t in_window) const;

  const uint64_t records_;
  const uint64_t block_records_;
  const uint64_t blocks_;
  const uint64_t window_blocks_;
  const uint64_t missing_;  // records that the last block is short of
  const uint64_t seed_;
  const std::string split_;
  OrderKey key_;
  KeyedPermutation block_permutation_;
  uint64_t short_block_at_ = 0;    // where the last block stands in the permutation
  std::array<Window, 2> windows_;  // by parity: read-ahead is often one window ahead
};

}  // namespace shardmill
