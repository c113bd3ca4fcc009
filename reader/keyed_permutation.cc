#include "reader/keyed_permutation.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "reader/base/status.h"
#include "reader/epoch_order.h"

namespace shardmill {
namespace {

constexpr uint64_t kTableSize = 65536;
constexpr int kRounds = 8;
constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio, odd
// Positions that Fill() works on side by side, so that the multiplications of one overlap with
// those of the others.
constexpr uint64_t kLanes = 64;

void AppendLittleEndian(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

OrderKey HashOf(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.low64, hash.high64};
}

// The finaliser of MurmurHash3 with the constants of David Stafford's variant 13: a bijection of
// 64 bits in which each input bit changes each output bit with probability close to 1/2.
uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

// The numbers of a key one after the other.
class KeyStream {
 public:
  explicit KeyStream(const OrderKey& key) : key_(key) {}

  uint64_t Next() { return KeyedHash(key_, next_++); }

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
  const OrderKey key_;
  uint64_t next_ = 0;
};

void FisherYates(uint32_t size, KeyStream stream, std::vector<uint32_t>* table) {
  table->resize(size);
  std::iota(table->begin(), table->end(), 0);
  for (uint32_t i = size; i > 1; --i) std::swap((*table)[i - 1], (*table)[stream.NextBelow(i)]);
}

// Half of the bits of the smallest domain of an even number of bits that holds `size` values.
int HalfBits(uint64_t size) {
  int half_bits = 1;
  while (half_bits < 32 && (size - 1) >> (2 * half_bits) != 0) ++half_bits;
  return half_bits;
}

// The round function takes the high bits of a keyed product, where all bits of the half have had
// their say.
uint64_t Round(uint64_t half, uint64_t round_key, int half_bits) {
  uint64_t mixed = (half ^ round_key) * kGolden;
  mixed = (mixed ^ (mixed >> 32)) * 0xBF58476D1CE4E5B9;
  return mixed >> (64 - half_bits);
}

}  // namespace

OrderKey MakeOrderKey(uint64_t seed, uint64_t epoch, std::string_view split,
                      std::string_view purpose) {
  std::string text;
  AppendLittleEndian(seed, 8, &text);
  AppendLittleEndian(epoch, 8, &text);
  AppendLittleEndian(kEpochOrderVersion, 4, &text);
  text.append(split);
  if (!purpose.empty()) {
    text.push_back('\0');  // stands in no split name
    text.append(purpose);
  }
  return HashOf(text);
}

OrderKey DeriveKey(const OrderKey& key, uint64_t index) {
  const std::array<uint64_t, 3> words = {key.low, key.high, index};
  std::array<char, 24> text;
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(words[i / 8] >> (8 * (i % 8)));
  }
  return HashOf({text.data(), text.size()});
}

uint64_t KeyedHash(const OrderKey& key, uint64_t index) {
  return Mix(Mix(key.low + kGolden * (index + 1)) ^ key.high);
}

uint64_t BoundedHash(uint64_t hash, uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(hash) * bound) >> 64);
}

void KeyedPermutation::Reset(uint64_t size, const OrderKey& key) {
  size_ = size;
  if (size <= kTableSize) {
    FisherYates(static_cast<uint32_t>(size), KeyStream(key), &table_);
    return;
  }
  table_.clear();
  half_bits_ = HalfBits(size);
  KeyStream stream(key);
  for (uint64_t& round_key : round_keys_) round_key = stream.Next();
}

// One pass of the Feistel network: a bijection of [0, 2^(2 half_bits)).
uint64_t KeyedPermutation::Permute(uint64_t value) const {
  uint64_t left = value >> half_bits_;
  uint64_t right = value & ((uint64_t{1} << half_bits_) - 1);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t next = left ^ Round(right, round_keys_[round], half_bits_);
    left = right;
    right = next;
  }
  return (left << half_bits_) | right;
}

uint64_t KeyedPermutation::Invert(uint64_t value) const {
  uint64_t left = value >> half_bits_;
  uint64_t right = value & ((uint64_t{1} << half_bits_) - 1);
  for (int round = kRounds - 1; round >= 0; --round) {
    const uint64_t before = right ^ Round(left, round_keys_[round], half_bits_);
    right = left;
    left = before;
  }
  return (left << half_bits_) | right;
}

uint64_t KeyedPermutation::At(uint64_t position) const {
  SHARDMILL_CHECK(position < size_);
  if (!table_.empty()) return table_[position];
  // Cycle walking: the domain is less than four times as large as the set, and the cycle through
  // a position returns into the set, at the latest to the position itself.
  uint64_t value = Permute(position);
  while (value >= size_) value = Permute(value);
  return value;
}

uint64_t KeyedPermutation::PositionOf(uint64_t value) const {
  SHARDMILL_CHECK(value < size_);
  if (!table_.empty()) {
    return static_cast<uint64_t>(std::find(table_.begin(), table_.end(), value) - table_.begin());
  }
  uint64_t position = Invert(value);
  while (position >= size_) position = Invert(position);
  return position;
}

void KeyedPermutation::Fill(uint64_t first, uint64_t count, uint64_t* out) const {
  SHARDMILL_CHECK(first <= size_ && count <= size_ - first);
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
void KeyedPermutation::FillLanes(uint64_t first, uint64_t lanes, uint64_t* out) const {
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
      still_outside += out[lane] >= size_;
    }
    left = still_outside;
  }
}

}  // namespace shardmill
