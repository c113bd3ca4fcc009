// Deterministic random inputs for the trainer's tests.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trainer/graph/counter_random.h"

namespace shardmill {

// Normal values, a function of (seed, name).
template <typename T>
std::vector<T> RandomTensor(int64_t elements, uint64_t seed, std::string_view name) {
  const CounterRandom random(seed, name);
  std::vector<T> values(static_cast<size_t>(elements));
  for (int64_t i = 0; i < elements; ++i) values[i] = static_cast<T>(random.Normal(i));
  return values;
}

// Integers in [0, limit).
template <typename T>
std::vector<T> RandomIntegers(int64_t elements, int64_t limit, uint64_t seed,
                              std::string_view name) {
  const CounterRandom random(seed, name);
  std::vector<T> values(static_cast<size_t>(elements));
  for (int64_t i = 0; i < elements; ++i) {
    values[i] = static_cast<T>(random.Bits(i) % static_cast<uint64_t>(limit));
  }
  return values;
}

}  // namespace shardmill
