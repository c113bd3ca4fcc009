#include "trainer/graph/hard_pixels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace shardmill {

Status CheckLossTerms(const LossOptions& options) {
  const auto positive = [](double value) { return value >= 0 && std::isfinite(value); };
  if (!positive(options.cross_entropy) || !positive(options.dice) ||
      options.cross_entropy + options.dice <= 0) {
    return InvalidArgumentError(
        "the factors of cross-entropy and Dice must not be negative, and one must be above 0");
  }
  if (!(options.label_smoothing >= 0 && options.label_smoothing < 1)) {
    return InvalidArgumentError("label smoothing must be in [0, 1)");
  }
  const auto in_unit = [](double value) { return value >= 0 && value <= 1; };
  if (!in_unit(options.hard_probability) || !in_unit(options.hard_share)) {
    return InvalidArgumentError("probability and share of hard pixels must be in [0, 1]");
  }
  return OkStatus();
}

double ProbabilityLimitOf(const std::vector<double>& counts, const LossOptions& options) {
  constexpr double kAboveAll = 2;
  const double pixels = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double wanted = options.hard_share * pixels;
  double kept = 0;
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    kept += counts[bin];
    if (kept < wanted) continue;
    const bool is_last = bin + 1 == counts.size();
    const double end = static_cast<double>(bin + 1) / static_cast<double>(counts.size());
    return std::max(options.hard_probability, wanted == 0 ? 0.0 : is_last ? kAboveAll : end);
  }
  return kAboveAll;
}

}  // namespace shardmill
