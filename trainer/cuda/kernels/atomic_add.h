// Sums that several indices of a kernel add to at once. Only whole numbers below 2^53: these add
// without rounding, so the order does not matter.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/host_device.h"

namespace shardmill {

SHARDMILL_HD void AddWholeNumber(double number, double* sum) {
#ifdef __CUDA_ARCH__
  atomicAdd(sum, number);
#else
  *sum += number;
#endif
}

SHARDMILL_HD void AddWholeNumber(uint64_t number, uint64_t* sum) {
#ifdef __CUDA_ARCH__
  static_assert(sizeof(unsigned long long) == sizeof(uint64_t), "the type that CUDA adds to");
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(number));
#else
  *sum += number;
#endif
}

// *smallest = the smaller one of both.
SHARDMILL_HD void KeepSmaller(uint64_t number, uint64_t* smallest) {
#ifdef __CUDA_ARCH__
  atomicMin(reinterpret_cast<unsigned long long*>(smallest),
            static_cast<unsigned long long>(number));
#else
  if (number < *smallest) *smallest = number;
#endif
}

}  // namespace shardmill
