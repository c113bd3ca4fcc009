// Random numbers that are a function of (seed, name, position), for initial weights and for
// synthetic inputs in tests: no state, so any thread may draw any position in any order.
#pragma once

#include <cstdint>
#include <string_view>

namespace shardmill {

// 64 random bits for each pair of a key and a position. Device code calls it too.
constexpr uint64_t CounterBits(uint64_t key, uint64_t position) {
  // The output function of SplitMix64, twice: a bijection of 64 bits that passes statistical tests
  // when it is fed with multiples of an odd constant.
  const auto mix = [](uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  };
  return mix(mix(key + 0x9E3779B97F4A7C15u * (position + 1)) ^ key);
}

class CounterRandom {
 public:
  CounterRandom(uint64_t seed, std::string_view name);

  uint64_t Bits(uint64_t position) const { return CounterBits(key_, position); }
  double Uniform(uint64_t position) const;  // [0, 1)
  double Normal(uint64_t position) const;   // mean 0, variance 1; |value| < 9

 private:
  uint64_t key_;
};

// The deviation of He initialisation: what keeps the variance of activations through ReLU.
double HeDeviation(int64_t fan_in);

}  // namespace shardmill
