// Sums over everything that shares one batch: the other ranks, the other micro-shards.
#pragma once

#include <cstdint>
#include <string_view>

#include "reader/base/status.h"

namespace shardmill {

class SharedSums {
 public:
  virtual ~SharedSums() = default;

  // Replaces values[i] by its sum over all that share the batch; they all make the same calls in
  // the same order, and all get the same bits. `name` is for messages.
  virtual Status Sum(double* values, int64_t count, std::string_view name) = 0;
};

}  // namespace shardmill
