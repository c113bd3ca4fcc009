#include "reader/weighted_order.h"

#include <algorithm>
#include <cmath>

namespace shardmill {

Result<WeightTable> WeightTable::Create(const std::vector<double>& weights) {
  WeightTable table;
  table.running_sums_.reserve(weights.size());
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] < 0) {
      return InvalidArgumentError("weight " + std::to_string(i) + " is " +
                                  std::to_string(weights[i]) +
                                  "; weights are finite and not negative");
    }
    const double before = sum;
    sum += weights[i];
    if (sum > before) table.last_ = i;
    table.running_sums_.push_back(sum);
  }
  if (sum == 0) return InvalidArgumentError("all weights are 0; there is nothing to draw");
  if (!std::isfinite(sum)) return InvalidArgumentError("the weights add up to infinity");
  return table;
}

uint64_t WeightTable::Draw(uint64_t hash) const {
  const double unit = static_cast<double>(hash >> 11) * 0x1p-53;  // in [0, 1), exact
  const double place = unit * running_sums_.back();
  const auto entry = std::upper_bound(running_sums_.begin(), running_sums_.end(), place);
  // The product may be rounded up to the sum itself.
  return std::min(static_cast<uint64_t>(entry - running_sums_.begin()), last_);
}

Status WeightedOrder::Fill(uint64_t first, uint64_t count, uint64_t* out) {
  SHARDMILL_CHECK(first <= length_ && count <= length_ - first);
  for (uint64_t i = 0; i < count; ++i) out[i] = table_->Draw(KeyedHash(key_, first + i));
  return OkStatus();
}

}  // namespace shardmill
