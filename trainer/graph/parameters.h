// The trained numbers of a model: flat buffers, and a table that names what lies where.
//
// Values and gradients are two flat buffers of equal layout, so that an optimizer, a reduction
// over ranks, a checkpoint or a hash is one loop over [0, parameter_elements()). Running
// statistics of batch norm are a third buffer that no optimizer touches. Each tensor starts at a
// multiple of kParameterAlignment elements; the gaps are zero in all three buffers and stay zero.
// The buffers live in shared memory of the op table (OpTable::AllocateShared): the host may use
// them between the calls of a graph, which wait for the device before they return. Where
// elements are bf16 the buffers are f32 all the same, the master weights, and convolutions read a
// copy of the values in bf16. Immovable; not for concurrent use.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/graph/tensor.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

constexpr int64_t kParameterAlignment = 16;  // elements: one cache line of f32

enum class ParameterKind {
  kConvolutionWeight,  // [out, kernel_h, kernel_w, in / groups]
  kBias,               // [channels]
  kBatchNormScale,     // [channels], starts as 1
  kBatchNormShift,     // [channels], starts as 0
  kPreluSlope,         // [channels], starts as 0.25
};

// Weight decay is meant for kConvolutionWeight only.
struct ParameterInfo {
  std::string name;  // "down1/convolution1/weight": layer name, "/", role; unique
  ParameterKind kind = ParameterKind::kConvolutionWeight;
  std::array<int64_t, 4> dims = {1, 1, 1, 1};  // a vector has its length first, then ones
  int64_t offset = 0;                          // in elements, in values and gradients
  int64_t elements = 0;
  // Inputs that one output element sums over: the fan-in of He initialisation.
  int64_t fan_in = 1;
};

enum class StatisticKind { kRunningMean, kRunningVariance };  // start as 0 and 1

struct StatisticInfo {
  std::string name;  // "down1/norm1/running_mean"
  StatisticKind kind = StatisticKind::kRunningMean;
  int64_t offset = 0;  // in elements, in statistics
  int64_t elements = 0;
};

class ParameterStore {
 public:
  // Both return the index of the entry. REQUIRES: before Allocate.
  int AddParameter(std::string name, ParameterKind kind, std::array<int64_t, 4> dims,
                   int64_t fan_in);
  int AddStatistic(std::string name, StatisticKind kind, int64_t elements);

  // Allocates the buffers (zeroed) and fills them from `seed`: weights He-normal, from a
  // counter-based generator keyed by (seed, parameter name), so that a value depends on nothing
  // else: not on threads, not on the other layers.
  Status Allocate(OpTable* ops, uint64_t seed);

  const std::vector<ParameterInfo>& parameters() const { return parameters_; }
  const std::vector<StatisticInfo>& statistics() const { return statistics_; }
  int64_t parameter_elements() const { return parameter_elements_; }  // with the gaps
  int64_t statistic_elements() const { return statistic_elements_; }  // with the gaps
  int64_t trained_elements() const;                                   // without the gaps

  // The flat buffers. REQUIRES: Allocate succeeded and the parameters are f32.
  float* values();
  float* gradients();
  float* running_statistics();

  // The copy, in memory of the op table; null unless elements are bf16. Whoever changes values()
  // brings it up to date: the update of a device by itself, the host by NarrowValues, which waits
  // for the device.
  void* narrow_values() const { return narrow_values_.data(); }
  Status NarrowValues();

  // Of all buffers together.
  int64_t bytes() const;

  // The same for any element type: the address of one entry in its buffer. Of convolution weights
  // it is what convolutions read: of bf16 where elements are.
  void* value_at(int parameter) const;
  const void* master_at(int parameter) const;  // in values(), whatever convolutions read
  void* gradient_at(int parameter) const;
  void* statistic_at(int statistic) const;

 private:
  template <typename T>
  Status FillInitialValues(uint64_t seed);

  std::vector<ParameterInfo> parameters_;
  std::vector<StatisticInfo> statistics_;
  int64_t parameter_elements_ = 0;
  int64_t statistic_elements_ = 0;
  OpTable* ops_ = nullptr;
  DeviceBuffer values_;
  DeviceBuffer narrow_values_;
  DeviceBuffer gradients_;
  DeviceBuffer running_statistics_;
};

}  // namespace shardmill
