#include "tools/bench/spread.h"

#include <algorithm>
#include <cmath>

namespace shardmill {
namespace {

// Between the two nearest values where the place is none.
double ValueAt(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - static_cast<double>(below);
  return sorted[below] * (1 - part) + sorted[above] * part;
}

}  // namespace

Spread SpreadOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {ValueAt(values, 0.5), ValueAt(values, 0.25), ValueAt(values, 0.75)};
}

Rate MedianRate(std::vector<Rate> rates) {
  if (rates.empty()) return {};
  std::sort(rates.begin(), rates.end(),
            [](const Rate& a, const Rate& b) { return a.per_second() < b.per_second(); });
  return rates[(rates.size() - 1) / 2];
}

double SpeedBeside(const Rate& turn, const Rate& before, const Rate& after) {
  return turn.per_second() / ((before.per_second() + after.per_second()) / 2);
}

}  // namespace shardmill
