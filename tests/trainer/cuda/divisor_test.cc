#include "trainer/cuda/kernels/divisor.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace shardmill {
namespace {

TEST(Divisor, QuotientsAreExact) {
  for (const int64_t divisor :
       {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{640}, int64_t{641}, int64_t{65537},
        (int64_t{1} << 30) + 1, (int64_t{1} << 31) - 1, int64_t{1} << 31, int64_t{1} << 40}) {
    const Divisor by(divisor);
    // Around multiples the rounding decides; also where 32 bits end.
    for (const int64_t quotient :
         {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{12345}, ((int64_t{1} << 31) - 1) / divisor,
          (int64_t{1} << 32) / divisor}) {
      for (int64_t number = quotient * divisor - 2; number < quotient * divisor + 3; ++number) {
        if (number < 0) continue;
        EXPECT_EQ(by.Divide(number), number / divisor) << number << " / " << divisor;
      }
    }
  }
}

}  // namespace
}  // namespace shardmill
