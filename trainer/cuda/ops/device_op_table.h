// What a device offers a training step beside the op table: its runtime, and what happens to input
// and flat buffers. All of it is enqueued; see StepOps for the operations.
#pragma once

#include "trainer/cuda/ops/kernel_ops.h"
#include "trainer/cuda/ops/step_ops.h"
#include "trainer/cuda/runtime/runtime.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

class DeviceOpTable : public OpTable {
 public:
  bool host_memory() const override { return false; }
  virtual CudaRuntime* runtime() const = 0;
  // Of a stream that CreateStream made.
  virtual StreamHandle HandleOf(Stream& stream) const = 0;

  virtual Status PrepareInput(Stream& stream, const InputCall& call) = 0;
  virtual Status CountConfusion(Stream& stream, LabelType type, int64_t pixels, int64_t first_pixel,
                                int64_t ignore, const void* labels, const void* predicted,
                                const ConfusionCounts& counts) = 0;
  virtual Status GradientNorm(Stream& stream, int64_t elements, const float* gradients,
                              double* norm, StepNumbers* step, void* workspace,
                              const StepGuard& guard) = 0;
  virtual Status Update(Stream& stream, UpdateRule rule, const UpdateBuffers& buffers,
                        const StepNumbers* step) = 0;
  virtual Status MoveAverage(Stream& stream, int64_t elements, const StepNumbers* step,
                             const float* values, float* average) = 0;
};

// The whole table of a device, over a Backend (see kernel_backend.h) that is a DeviceOpTable.
template <typename Backend>
class DeviceKernelOps final : public KernelLayers<Backend> {
 public:
  using KernelLayers<Backend>::KernelLayers;

  Status PrepareInput(Stream& stream, const InputCall& call) override {
    return Steps().PrepareInput(stream, call);
  }
  Status CountConfusion(Stream& stream, LabelType type, int64_t pixels, int64_t first_pixel,
                        int64_t ignore, const void* labels, const void* predicted,
                        const ConfusionCounts& counts) override {
    return Steps().CountConfusion(stream, type, pixels, first_pixel, ignore, labels, predicted,
                                  counts);
  }
  Status GradientNorm(Stream& stream, int64_t elements, const float* gradients, double* norm,
                      StepNumbers* step, void* workspace, const StepGuard& guard) override {
    return Steps().GradientNorm(stream, elements, gradients, norm, step, workspace, guard);
  }
  Status Update(Stream& stream, UpdateRule rule, const UpdateBuffers& buffers,
                const StepNumbers* step) override {
    return Steps().Update(stream, rule, buffers, step);
  }
  Status MoveAverage(Stream& stream, int64_t elements, const StepNumbers* step, const float* values,
                     float* average) override {
    return Steps().MoveAverage(stream, elements, step, values, average);
  }

 private:
  StepOps<DeviceKernelOps> Steps() { return StepOps<DeviceKernelOps>(this); }
};

}  // namespace shardmill
