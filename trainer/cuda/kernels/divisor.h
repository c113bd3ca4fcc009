// Division by a number that is the same for all indices of a kernel: a multiplication and a shift,
// where a device would need some twenty instructions for each division.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/host_device.h"

namespace shardmill {

class Divisor {
 public:
  // REQUIRES: divisor > 0.
  explicit Divisor(int64_t divisor) : divisor_(divisor) {
    if (divisor >= kLimit) return;
    int bits = 0;
    while ((int64_t{1} << bits) < divisor) ++bits;
    shift_ = kBits + bits;
    const uint64_t power = uint64_t{1} << shift_;
    const auto by = static_cast<uint64_t>(divisor);
    factor_ = static_cast<uint32_t>((power + by - 1) / by);
  }

  // The quotient, rounded down. REQUIRES: number >= 0. The factor is 2^shift / divisor, rounded up
  // by less than 1; below 2^31 times that, 2^shift is too large for the error to show (Granlund and
  // Montgomery, 1994).
  SHARDMILL_HD int64_t Divide(int64_t number) const {
    if (number >= kLimit || divisor_ >= kLimit) return number / divisor_;
    const uint64_t product = static_cast<uint64_t>(static_cast<uint32_t>(number)) * factor_;
    return static_cast<int64_t>(product >> shift_);
  }

  SHARDMILL_HD int64_t divisor() const { return divisor_; }

 private:
  static constexpr int kBits = 31;
  static constexpr int64_t kLimit = int64_t{1} << kBits;

  int64_t divisor_;
  uint32_t factor_ = 0;
  int shift_ = 0;
};

}  // namespace shardmill
