#include "reader/epoch_order.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "reader/base/status.h"

namespace shardmill {
namespace {

constexpr uint64_t kTableRecords = 65536;
constexpr int kRounds = 8;
constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio, odd
// Positions that Fill() works on side by side, so that the multiplications of one overlap with
// those of the others.
constexpr uint64_t kLanes = 64;

void AppendLittleEndian(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

XXH128_hash_t OrderKey(uint64_t seed, uint64_t epoch, std::string_view split) {
  std::string text;
  AppendLittleEndian(seed, 8, &text);
  AppendLittleEndian(epoch, 8, &text);
  AppendLittleEndian(kEpochOrderVersion, 4, &text);
  text.append(split);
  return XXH3_128bits(text.data(), text.size());
}

// The finaliser of MurmurHash3 with the constants of David Stafford's variant 13: a bijection of
// 64 bits in which each input bit changes each output bit with probability close to 1/2.
uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

// A stream of 64-bit numbers from a 128-bit key.
class KeyStream {
 public:
  explicit KeyStream(XXH128_hash_t key) : counter_(key.low64), key_(key.high64) {}

  uint64_t Next() {
    counter_ += kGolden;
    return Mix(Mix(counter_) ^ key_);
  }

  // Uniform in [0, bound) without bias: the high half of a product, with the few values that
  // would make some results more likely thrown away (Lemire, 2019).
  uint32_t NextBelow(uint32_t bound) {
    const uint32_t threshold = (0u - bound) % bound;
    while (true) {
      const uint64_t product = (Next() >> 32) * bound;
      if (static_cast<uint32_t>(product) >= threshold) return static_cast<uint32_t>(product >> 32);
    }
  }

 private:
  uint64_t counter_;
  const uint64_t key_;
};

std::vector<uint32_t> FisherYates(uint32_t records, KeyStream stream) {
  std::vector<uint32_t> table(records);
  for (uint32_t i = 0; i < records; ++i) table[i] = i;
  for (uint32_t i = records; i > 1; --i) std::swap(table[i - 1], table[stream.NextBelow(i)]);
  return table;
}

// Half of the bits of the smallest domain of an even number of bits that holds `records` values.
int HalfBits(uint64_t records) {
  int half_bits = 1;
  while (half_bits < 32 && (records - 1) >> (2 * half_bits) != 0) ++half_bits;
  return half_bits;
}

}  // namespace

EpochOrder::EpochOrder(uint64_t records, uint64_t seed, uint64_t epoch, std::string_view split)
    : records_(records) {
  KeyStream stream(OrderKey(seed, epoch, split));
  if (records <= kTableRecords) {
    std::fill(std::begin(round_keys_), std::end(round_keys_), 0);
    table_ = FisherYates(static_cast<uint32_t>(records), stream);
    return;
  }
  half_bits_ = HalfBits(records);
  for (uint64_t& round_key : round_keys_) round_key = stream.Next();
}

// One pass of the Feistel network: a bijection of [0, 2^(2 half_bits)). The round function takes
// the high bits of a keyed product, where all bits of the half have had their say.
uint64_t EpochOrder::Permute(uint64_t value) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t left = value >> half_bits_;
  uint64_t right = value & mask;
  for (int round = 0; round < kRounds; ++round) {
    uint64_t mixed = (right ^ round_keys_[round]) * kGolden;
    mixed = (mixed ^ (mixed >> 32)) * 0xBF58476D1CE4E5B9;
    const uint64_t next = left ^ (mixed >> (64 - half_bits_));
    left = right;
    right = next;
  }
  return (left << half_bits_) | right;
}

uint64_t EpochOrder::At(uint64_t position) const {
  SHARDMILL_CHECK(position < records_);
  if (!table_.empty()) return table_[position];
  // Cycle walking: the domain is less than four times as large as the set, and the cycle through
  // a position returns into the set, at the latest to the position itself.
  uint64_t value = Permute(position);
  while (value >= records_) value = Permute(value);
  return value;
}

void EpochOrder::Fill(uint64_t first, uint64_t count, uint64_t* out) const {
  SHARDMILL_CHECK(first <= records_ && count <= records_ - first);
  if (!table_.empty()) {
    std::copy_n(table_.begin() + static_cast<std::ptrdiff_t>(first), count, out);
    return;
  }
  for (uint64_t done = 0; done < count; done += kLanes) {
    FillLanes(first + done, std::min(kLanes, count - done), out + done);
  }
}

// The cycle walks of many positions side by side, without a branch that depends on the values:
// each pass compacts the list of lanes that are still outside the set.
void EpochOrder::FillLanes(uint64_t first, uint64_t lanes, uint64_t* out) const {
  std::array<uint32_t, kLanes> outside;
  std::iota(outside.begin(), outside.end(), 0);
  std::iota(out, out + lanes, first);
  uint64_t left = lanes;
  while (left > 0) {
    uint64_t still_outside = 0;
    for (uint64_t i = 0; i < left; ++i) {
      const uint32_t lane = outside[i];
      out[lane] = Permute(out[lane]);
      outside[still_outside] = lane;
      still_outside += out[lane] >= records_;
    }
    left = still_outside;
  }
}

RankSlice SliceForRank(uint64_t batch_records, uint32_t rank, uint32_t ranks) {
  SHARDMILL_CHECK(rank < ranks && batch_records >> 32 == 0);
  return {batch_records * rank / ranks, batch_records * (rank + 1) / ranks};
}

}  // namespace shardmill
