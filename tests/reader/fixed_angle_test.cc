#include "reader/fixed_angle.h"

#include <gtest/gtest.h>

#include <cmath>

namespace shardmill {
namespace {

TEST(FixedAngle, AgreesWithTheLibrary) {
  for (int32_t angle = -400000; angle <= 400000; angle += 37) {
    const SineCosine found = SineCosineOf(angle);
    const double radians = angle / 1000.0 * 3.14159265358979323846 / 180;
    EXPECT_NEAR(static_cast<double>(found.sine) * 0x1p-30, std::sin(radians), 0x1p-26) << angle;
    EXPECT_NEAR(static_cast<double>(found.cosine) * 0x1p-30, std::cos(radians), 0x1p-26) << angle;
  }
}

TEST(FixedAngle, QuarterTurnsAreExact) {
  constexpr int64_t kOne = int64_t{1} << kAngleBits;
  EXPECT_EQ(SineCosineOf(0).sine, 0);
  EXPECT_EQ(SineCosineOf(0).cosine, kOne);
  EXPECT_EQ(SineCosineOf(90000).sine, kOne);
  EXPECT_EQ(SineCosineOf(90000).cosine, 0);
  EXPECT_EQ(SineCosineOf(180000).cosine, -kOne);
  EXPECT_EQ(SineCosineOf(-90000).sine, -kOne);
}

}  // namespace
}  // namespace shardmill
