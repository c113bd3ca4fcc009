#include "trainer/graph/counter_random.h"

#include <cmath>

namespace shardmill {
namespace {

constexpr double kPi = 3.14159265358979323846;

// The output function of SplitMix64.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;

double ToUniform(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

CounterRandom::CounterRandom(uint64_t seed, std::string_view name) {
  key_ = Mix(seed + kGolden);
  for (const char c : name) key_ = Mix(key_ + kGolden * (static_cast<unsigned char>(c) + 1));
}

double CounterRandom::Uniform(uint64_t position) const { return ToUniform(Bits(position)); }

double CounterRandom::Normal(uint64_t position) const {
  // Box and Muller; 1 - u keeps the logarithm finite.
  const double radius = std::sqrt(-2 * std::log(1 - ToUniform(Bits(2 * position))));
  return radius * std::cos(2 * kPi * ToUniform(Bits(2 * position + 1)));
}

double HeDeviation(int64_t fan_in) { return std::sqrt(2.0 / static_cast<double>(fan_in)); }

}  // namespace shardmill
