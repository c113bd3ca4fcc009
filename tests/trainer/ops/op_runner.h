// Runs single operations of an op table on tensors in ordinary vectors, so that tests can put two
// backends side by side. Host backends of f32 only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/ops/op_table.h"

namespace shardmill {

using Floats = std::vector<float>;

struct ConvolutionResults {
  Floats y, dx, dweights, dbias;
};

struct BatchNormResults {
  Floats mean, variance, y, dscale, dshift, dx;
};

struct MaxPoolResults {
  Floats y, dx;
  std::vector<uint8_t> indices;
};

struct LossResults {
  double weight_sum = 0, loss_sum = 0;
  Floats dlogits;
};

class OpRunner {
 public:
  // CHECKs that the table computes in f32 on the host.
  explicit OpRunner(std::unique_ptr<OpTable> ops);

  OpTable& ops() { return *ops_; }
  Stream& stream() { return *stream_; }

  // All three directions, or forward only where the shape is for that; `bias` is used where the
  // shape has one.
  ConvolutionResults Convolution(const ConvolutionShape& shape, const Floats& x,
                                 const Floats& weights, const Floats& bias, const Floats& dy);
  BatchNormResults BatchNorm(const Shape& shape, Activation activation, const Floats& x,
                             const Floats& scale, const Floats& shift, const Floats& dy);
  // `dx` is what the gradient holds before.
  MaxPoolResults MaxPool(const PoolShape& shape, const Floats& x, const Floats& dy,
                         GradientMode mode, Floats dx);
  // The gradient is divided by the weight sum of the batch.
  LossResults Loss(LossCall call, const Floats& logits);

 private:
  // Memory as the graph gives it: aligned, with unknown content.
  void* Workspace(int64_t bytes);
  // CHECKs that nothing was written behind it.
  void CheckWorkspace() const;

  std::unique_ptr<OpTable> ops_;
  std::unique_ptr<Stream> stream_;
  DeviceBuffer workspace_;
  int64_t workspace_bytes_ = 0;
};

}  // namespace shardmill
