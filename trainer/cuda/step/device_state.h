// What an optimizer keeps on the device beside the parameters: moments, and the moving average.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "reader/base/status.h"
#include "trainer/cuda/ops/device_op_table.h"
#include "trainer/graph/parameters.h"
#include "trainer/optimization/optimizer.h"

namespace shardmill {

struct DeviceStateOptions {
  OptimizerOptions optimizer;
  std::vector<ParameterRange> ranges;
  double average_decay = 0;  // 0: no moving average
};

class DeviceState {
 public:
  // All that is passed must outlive the object.
  static Result<std::unique_ptr<DeviceState>> Create(ParameterStore* store, DeviceOpTable* ops,
                                                     const DeviceStateOptions& options);

  // The numbers of the next step, which then counts as taken.
  StepNumbers NextNumbers(double rate, double clip_norm, uint64_t step);
  // Enqueues norm and update; `loss` is what a finite step has, `numbers` those of NextNumbers,
  // all on the device.
  Status EnqueueNorm(Stream& stream, StepNumbers* numbers, const double* loss, double* norm);
  Status EnqueueUpdate(Stream& stream, const StepNumbers* numbers);
  Status EnqueueAverage(Stream& stream, const StepNumbers* numbers);
  bool HasAverage() const { return options_.average_decay > 0; }

  // To and from the host, where all steps so far are done. Two averages: of the parameters, and of
  // the statistics; null: there is none.
  Status CopyToHost(Optimizer* optimizer, std::vector<float>* parameters,
                    std::vector<float>* statistics) const;
  Status CopyFromHost(const Optimizer& optimizer, const std::vector<float>* parameters,
                      const std::vector<float>* statistics);

  std::vector<MemorySpan> Weights() const;  // what EnqueueUpdate writes
  MemorySpan Gradients() const;
  std::vector<MemorySpan> Norm() const;  // what EnqueueNorm writes beside numbers and norm
  std::vector<MemorySpan> Average() const;
  MemorySpan Statistics() const;
  MemorySpan Ranges() const { return Span(ranges_); }

 private:
  DeviceState(ParameterStore* store, DeviceOpTable* ops, const DeviceStateOptions& options)
      : store_(*store), ops_(*ops), options_(options) {}
  Status Start();
  static MemorySpan Span(const DeviceBuffer& buffer) { return {buffer.data(), buffer.bytes()}; }
  static float* Floats(const DeviceBuffer& buffer) { return static_cast<float*>(buffer.data()); }

  ParameterStore& store_;
  DeviceOpTable& ops_;
  DeviceStateOptions options_;
  uint64_t steps_taken_ = 0;
  DeviceBuffer ranges_, first_, second_, average_, average_statistics_, workspace_, halted_;
};

}  // namespace shardmill
