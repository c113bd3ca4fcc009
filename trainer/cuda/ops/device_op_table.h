// What a device offers a training step beside the op table: its runtime, and what happens to input
// and flat buffers. All of it is enqueued; see StepOps for the operations.
#pragma once

#include "trainer/cuda/kernels/shared_norm.h"
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

  // Of a batch in several passes; see StepOps.
  virtual Status AddUp(Stream& stream, int64_t elements, bool is_first, const float* values,
                       float* sums) = 0;
  virtual Status AddNumbers(Stream& stream, int64_t count, const double* values, double* sums) = 0;
  virtual Status Divide(Stream& stream, int64_t elements, const double* weight, float* values) = 0;

  // What ranks add up of batch norm: doubles made of two vectors per channel, and vectors made of
  // the sums. Moments: the sums of x, then of its squares, over this rank's pixels, from mean and
  // variance; and back, over all pixels.
  virtual Status PackMoments(Stream& stream, int64_t channels, int64_t pixels, const float* mean,
                             const float* variance, double* sums) = 0;
  virtual Status UnpackMoments(Stream& stream, int64_t channels, int64_t pixels, const double* sums,
                               float* mean, float* variance) = 0;
  virtual Status PackVectors(Stream& stream, int64_t channels, const float* first,
                             const float* second, double* both) = 0;
  virtual Status UnpackVectors(Stream& stream, int64_t channels, const double* both, float* first,
                               float* second) = 0;
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

  Status AddUp(Stream& stream, int64_t elements, bool is_first, const float* values,
               float* sums) override {
    return Steps().AddUp(stream, elements, is_first, values, sums);
  }
  Status AddNumbers(Stream& stream, int64_t count, const double* values, double* sums) override {
    return Steps().AddNumbers(stream, count, values, sums);
  }
  Status Divide(Stream& stream, int64_t elements, const double* weight, float* values) override {
    return Steps().Divide(stream, elements, weight, values);
  }

  Status PackMoments(Stream& stream, int64_t channels, int64_t pixels, const float* mean,
                     const float* variance, double* sums) override {
    return this->Launch(stream, channels,
                        PackMomentsKernel{channels, pixels, mean, variance, sums});
  }
  Status UnpackMoments(Stream& stream, int64_t channels, int64_t pixels, const double* sums,
                       float* mean, float* variance) override {
    return this->Launch(stream, channels,
                        UnpackMomentsKernel{channels, pixels, sums, mean, variance});
  }
  Status PackVectors(Stream& stream, int64_t channels, const float* first, const float* second,
                     double* both) override {
    return this->Launch(stream, channels, PackVectorsKernel{channels, first, second, both});
  }
  Status UnpackVectors(Stream& stream, int64_t channels, const double* both, float* first,
                       float* second) override {
    return this->Launch(stream, channels, UnpackVectorsKernel{channels, both, first, second});
  }

 private:
  StepOps<DeviceKernelOps> Steps() { return StepOps<DeviceKernelOps>(this); }
};

}  // namespace shardmill
