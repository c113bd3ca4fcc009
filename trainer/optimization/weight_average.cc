#include "trainer/optimization/weight_average.h"

#include <algorithm>

#include "proto/checkpoint.pb.h"

namespace shardmill {
namespace {

constexpr char kParameters[] = "average_parameters";
constexpr char kStatistics[] = "average_statistics";

void MoveTowards(const float* values, float share, std::vector<float>* average) {
  float* a = average->data();
  const auto count = static_cast<int64_t>(average->size());
  for (int64_t i = 0; i < count; ++i) a[i] += share * (values[i] - a[i]);
}

}  // namespace

float AverageShare(double decay, uint64_t step) {
  const auto steps = static_cast<double>(step);
  return static_cast<float>(1 - std::min(decay, steps / (steps + 9)));
}

Result<WeightAverage> WeightAverage::Create(double decay, ParameterStore* store) {
  if (decay > 0 && decay < 1) return WeightAverage(decay, store);
  return InvalidArgumentError(
      "the decay of the average of the weights must be above 0 and below 1");
}

WeightAverage::WeightAverage(double decay, ParameterStore* store)
    : decay_(decay),
      store_(store),
      parameters_(store->values(), store->values() + store->parameter_elements()),
      statistics_(store->running_statistics(),
                  store->running_statistics() + store->statistic_elements()) {}

void WeightAverage::Update(uint64_t step) {
  const float share = AverageShare(decay_, step);
  MoveTowards(store_->values(), share, &parameters_);
  MoveTowards(store_->running_statistics(), share, &statistics_);
}

void WeightAverage::Swap() {
  std::swap_ranges(parameters_.begin(), parameters_.end(), store_->values());
  std::swap_ranges(statistics_.begin(), statistics_.end(), store_->running_statistics());
}

std::vector<TensorView> WeightAverage::Tensors() const {
  return {{kParameters, parameters_.data(), static_cast<int64_t>(parameters_.size())},
          {kStatistics, statistics_.data(), static_cast<int64_t>(statistics_.size())}};
}

Status WeightAverage::Restore(const LoadedCheckpoint& checkpoint) {
  RETURN_IF_ERROR(checkpoint.CopyTensor(kParameters, parameters_.data(),
                                        static_cast<int64_t>(parameters_.size())));
  return checkpoint.CopyTensor(kStatistics, statistics_.data(),
                               static_cast<int64_t>(statistics_.size()));
}

bool HasWeightAverage(const LoadedCheckpoint& checkpoint) {
  const auto& tensors = checkpoint.description().tensors();
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const auto& tensor) { return tensor.name() == kParameters; });
}

Status RestoreAverageAsWeights(const LoadedCheckpoint& checkpoint, ParameterStore* store) {
  RETURN_IF_ERROR(checkpoint.CopyTensor(kParameters, store->values(), store->parameter_elements()));
  return checkpoint.CopyTensor(kStatistics, store->running_statistics(),
                               store->statistic_elements());
}

}  // namespace shardmill
