#include "reader/fixed_angle.h"

#include <utility>

namespace shardmill {
namespace {

constexpr int64_t kOne = int64_t{1} << kAngleBits;
constexpr int32_t kQuarterTurn = 90000, kEighthTurn = 45000;
// One thousandth of a degree as an angle in radians, in units of 2^-50.
constexpr int64_t kMillidegree = 19650660422;

int64_t Times(int64_t a, int64_t b) { return (a * b) >> kAngleBits; }

// The series of Taylor, for 0 … 45 degrees.
SineCosine OfSmallAngle(int32_t millidegrees) {
  const int64_t x = (millidegrees * kMillidegree) >> (50 - kAngleBits);
  const int64_t square = Times(x, x);
  int64_t sine = kOne, cosine = kOne;
  for (int64_t k : {72, 42, 20, 6}) sine = kOne - Times(square, sine) / k;
  for (int64_t k : {90, 56, 30, 12, 2}) cosine = kOne - Times(square, cosine) / k;
  return {Times(x, sine), cosine};
}

}  // namespace

SineCosine SineCosineOf(int32_t millidegrees) {
  int32_t angle = millidegrees % (4 * kQuarterTurn);
  if (angle < 0) angle += 4 * kQuarterTurn;
  const int32_t quarter = angle / kQuarterTurn, rest = angle % kQuarterTurn;
  SineCosine result = OfSmallAngle(rest <= kEighthTurn ? rest : kQuarterTurn - rest);
  if (rest > kEighthTurn) std::swap(result.sine, result.cosine);
  for (int32_t i = 0; i < quarter; ++i) result = {result.cosine, -result.sine};
  return result;
}

}  // namespace shardmill
