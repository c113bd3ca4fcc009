// The exponential moving average of the weights, which evaluations use in place of the newest.
//
// After step t (1 is the first) average += (1 - d) * (weights - average), with d the smaller one of
// `decay` and t / (t + 9): the initial weights are soon forgotten. Running statistics of batch norm
// are averaged alike. Element by element, so the same bits everywhere. Not for concurrent use.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/graph/parameters.h"

namespace shardmill {

// (1 - d) after step `step`.
float AverageShare(double decay, uint64_t step);

class WeightAverage {
 public:
  // Starts as the weights of `store` (in host memory, of f32), which must outlive it.
  // InvalidArgument unless 0 < decay < 1.
  static Result<WeightAverage> Create(double decay, ParameterStore* store);

  void Update(uint64_t step);
  // Exchanges the average and the weights; once more to change back.
  void Swap();

  std::vector<float>& parameters() { return parameters_; }
  std::vector<float>& statistics() { return statistics_; }
  // Under the names that checkpoints use.
  std::vector<TensorView> Tensors() const;
  Status Restore(const LoadedCheckpoint& checkpoint);

 private:
  WeightAverage(double decay, ParameterStore* store);

  double decay_;
  ParameterStore* store_;
  std::vector<float> parameters_;
  std::vector<float> statistics_;
};

// Whether the checkpoint of a run has an average beside the weights.
bool HasWeightAverage(const LoadedCheckpoint& checkpoint);
// Makes the average of the checkpoint the weights of `store`.
Status RestoreAverageAsWeights(const LoadedCheckpoint& checkpoint, ParameterStore* store);

}  // namespace shardmill
