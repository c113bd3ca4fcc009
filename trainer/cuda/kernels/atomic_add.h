// Sums that several indices of a kernel add to at once. Only whole numbers (of doubles: below
// 2^53), which add without rounding, so that the order does not matter.
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

// *largest = the larger one of both.
SHARDMILL_HD void KeepLarger(uint64_t number, uint64_t* largest) {
#ifdef __CUDA_ARCH__
  atomicMax(reinterpret_cast<unsigned long long*>(largest),
            static_cast<unsigned long long>(number));
#else
  if (number > *largest) *largest = number;
#endif
}

}  // namespace shardmill
