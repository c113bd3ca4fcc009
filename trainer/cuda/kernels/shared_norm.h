// What batch norm adds up over the ranks, packed into one message: one index is one channel.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/host_device.h"

namespace shardmill {

// Sums of x, then of its squares: in double, of numbers with at most 24 bits, they lose nothing
// that the statistics of a rank still had.
struct PackMomentsKernel {
  int64_t channels, pixels;
  const float* mean;
  const float* variance;
  double* sums;

  SHARDMILL_HD void operator()(int64_t c) const {
    const auto own = static_cast<double>(pixels);
    sums[c] = own * mean[c];
    sums[channels + c] = own * (variance[c] + static_cast<double>(mean[c]) * mean[c]);
  }
};

struct UnpackMomentsKernel {
  int64_t channels, pixels;  // of all ranks
  const double* sums;
  float* mean;
  float* variance;

  SHARDMILL_HD void operator()(int64_t c) const {
    const auto all = static_cast<double>(pixels);
    const double shared_mean = sums[c] / all;
    const double shared_variance = sums[channels + c] / all - shared_mean * shared_mean;
    mean[c] = static_cast<float>(shared_mean);
    variance[c] = static_cast<float>(shared_variance > 0 ? shared_variance : 0.0);
  }
};

struct PackVectorsKernel {
  int64_t channels;
  const float* first;
  const float* second;
  double* both;

  SHARDMILL_HD void operator()(int64_t c) const {
    both[c] = first[c];
    both[channels + c] = second[c];
  }
};

struct UnpackVectorsKernel {
  int64_t channels;
  const double* both;
  float* first;
  float* second;

  SHARDMILL_HD void operator()(int64_t c) const {
    first[c] = static_cast<float>(both[c]);
    second[c] = static_cast<float>(both[channels + c]);
  }
};

}  // namespace shardmill
