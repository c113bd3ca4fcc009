// Random numbers that are a function of (seed, name, position), for initial weights and for
// synthetic inputs in tests: no state, so any thread may draw any position in any order.
#pragma once

#include <cstdint>
#include <string_view>

namespace shardmill {

class CounterRandom {
 public:
  CounterRandom(uint64_t seed, std::string_view name);

  uint64_t Bits(uint64_t position) const;
  double Uniform(uint64_t position) const;  // [0, 1)
  double Normal(uint64_t position) const;   // mean 0, variance 1; |value| < 9

 private:
  uint64_t key_;
};

// The deviation of He initialisation: what keeps the variance of activations through ReLU.
double HeDeviation(int64_t fan_in);

}  // namespace shardmill
