// Sums of batch norm over the ranks in the memory of a device.
#pragma once

#include <cstdint>
#include <string_view>

#include "reader/base/status.h"

namespace shardmill {

// What is enqueued by these calls runs in the order of the graph's stream: the host neither sees
// the numbers nor waits for them. All ranks make the same calls in the same order. `scratch` has
// ScratchBytes and is free again when the next operation of the stream starts.
class DeviceNormSums {
 public:
  virtual ~DeviceNormSums() = default;

  static constexpr int64_t ScratchBytes(int64_t channels) {
    return 2 * channels * static_cast<int64_t>(sizeof(double));
  }

  // Mean and variance of this rank's `pixels` become those of all ranks. Returns how many pixels
  // these are.
  virtual Result<int64_t> SumStatistics(int64_t channels, int64_t pixels, float* mean,
                                        float* variance, double* scratch,
                                        std::string_view name) = 0;
  // The sums of backward over all ranks, of which dscale and dshift are this rank's and stay so.
  virtual Status SumGradients(int64_t channels, const float* dscale, const float* dshift,
                              float* shared_dscale, float* shared_dshift, double* scratch,
                              std::string_view name) = 0;
};

}  // namespace shardmill
