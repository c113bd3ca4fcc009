// Permutations and random numbers as pure functions of a 128-bit key: what every order of
// records is made of.
//
// A permutation of n values is a keyed Feistel network over the smallest even-bit domain that
// holds them, 8 rounds, with cycle walking (Black and Rogaway, "Ciphers with Arbitrary Finite
// Domains", 2002); for up to 65,536 values a Fisher-Yates table from the same key, because small
// Feistel domains are visibly non-uniform. O(1) memory above that, any position in O(1). The
// functions are part of kEpochOrderVersion: they change only with it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace shardmill {

struct OrderKey {
  uint64_t low = 0;
  uint64_t high = 0;
};

// The key of an epoch of a split. Keys of different purposes are independent; the empty purpose
// is the one of EpochOrder.
OrderKey MakeOrderKey(uint64_t seed, uint64_t epoch, std::string_view split,
                      std::string_view purpose = {});
// A key of its own for each `index` below `key`.
OrderKey DeriveKey(const OrderKey& key, uint64_t index);
// The `index`-th of the independent, uniform 64-bit numbers of `key`.
uint64_t KeyedHash(const OrderKey& key, uint64_t index);
// One of 0 … bound-1 from a uniform 64-bit number; the bias is below bound / 2^64.
uint64_t BoundedHash(uint64_t hash, uint64_t bound);

// Not for concurrent use while Reset() runs; otherwise safe.
class KeyedPermutation {
 public:
  KeyedPermutation() = default;  // of no values
  KeyedPermutation(uint64_t size, const OrderKey& key) { Reset(size, key); }

  // Becomes another permutation. Allocates only when it has more values than ever before, and at
  // most 65,536.
  void Reset(uint64_t size, const OrderKey& key);

  uint64_t size() const { return size_; }
  // Requires position < size().
  uint64_t At(uint64_t position) const;
  // The inverse of At(); O(size) for up to 65,536 values, else O(1).
  uint64_t PositionOf(uint64_t value) const;
  // Writes At(first), At(first + 1), … `count` of them, to `out`.
  void Fill(uint64_t first, uint64_t count, uint64_t* out) const;

 private:
  uint64_t Permute(uint64_t value) const;
  uint64_t Invert(uint64_t value) const;
  void FillLanes(uint64_t first, uint64_t lanes, uint64_t* out) const;

  uint64_t size_ = 0;
  uint64_t round_keys_[8] = {};
  int half_bits_ = 0;
  std::vector<uint32_t> table_;  // used when size_ <= 65,536
};

}  // namespace shardmill
