#include "tests/trainer/ops/op_runner.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shardmill {
namespace {

// Behind a workspace: what an operation needs more than it asks for shows there.
constexpr int64_t kGuardBytes = 64 << 10;
constexpr uint8_t kGuard = 0xA5;

template <typename T>
T Value(Result<T> result) {
  SHARDMILL_CHECK(result.ok());
  return std::move(result).value();
}

void Succeed(const Status& status) { SHARDMILL_CHECK(status.ok()); }

}  // namespace

OpRunner::OpRunner(std::unique_ptr<OpTable> ops)
    : ops_(std::move(ops)), stream_(Value(ops_->CreateStream())) {
  SHARDMILL_CHECK(ops_->host_memory() && ops_->element_type() == ElementType::kF32);
}

void* OpRunner::Workspace(int64_t bytes) {
  workspace_bytes_ = bytes;
  workspace_ = Value(DeviceBuffer::Create(ops_.get(), bytes + kGuardBytes));
  std::memset(workspace_.data(), kGuard, static_cast<size_t>(bytes + kGuardBytes));
  return workspace_.data();
}

void OpRunner::CheckWorkspace() const {
  const auto* const guard = static_cast<const uint8_t*>(workspace_.data()) + workspace_bytes_;
  const auto is_whole = [](uint8_t byte) { return byte == kGuard; };
  SHARDMILL_CHECK(std::all_of(guard, guard + kGuardBytes, is_whole));
}

ConvolutionResults OpRunner::Convolution(const ConvolutionShape& shape, const Floats& x,
                                         const Floats& weights, const Floats& bias,
                                         const Floats& dy) {
  const std::unique_ptr<ConvolutionOp> op = Value(ops_->PrepareConvolution(shape));
  void* workspace = Workspace(op->WorkspaceBytes());
  ConvolutionResults results;
  results.y.resize(shape.Output().Elements());
  results.dx.resize(shape.input.Elements());
  results.dweights.resize(weights.size());
  results.dbias.resize(shape.bias ? shape.out_channels : 0);
  const void* used_bias = shape.bias ? bias.data() : nullptr;
  void* dbias = shape.bias ? results.dbias.data() : nullptr;
  Succeed(op->Forward(*stream_, x.data(), weights.data(), used_bias, results.y.data(), workspace));
  if (shape.forward_only) {
    Succeed(stream_->Synchronize());
    CheckWorkspace();
    return results;
  }
  Succeed(op->BackwardData(*stream_, dy.data(), weights.data(), results.dx.data(), workspace));
  Succeed(op->BackwardWeights(*stream_, x.data(), dy.data(), results.dweights.data(), dbias,
                              workspace));
  Succeed(stream_->Synchronize());
  CheckWorkspace();
  return results;
}

BatchNormResults OpRunner::BatchNorm(const Shape& shape, Activation activation, const Floats& x,
                                     const Floats& scale, const Floats& shift, const Floats& dy) {
  BatchNormResults r;
  for (Floats* vector : {&r.mean, &r.variance, &r.dscale, &r.dshift}) vector->resize(shape.c);
  r.y.resize(x.size());
  BatchNormCall call;
  call.shape = shape;
  call.activation = activation;
  call.x = x.data();
  call.mean = r.mean.data();
  call.variance = r.variance.data();
  call.scale = scale.data();
  call.shift = shift.data();
  call.workspace = Workspace(ops_->BatchNormWorkspaceBytes(shape));
  Succeed(ops_->BatchNormStatistics(*stream_, shape, x.data(), r.mean.data(), r.variance.data(),
                                    call.workspace));
  Succeed(ops_->BatchNormForward(*stream_, call, r.y.data()));
  Succeed(ops_->BatchNormBackwardSums(*stream_, call, r.y.data(), dy.data(), r.dscale.data(),
                                      r.dshift.data()));
  r.dx = dy;  // in place, as the graph does it
  const BatchNormSums sums = {r.dscale.data(), r.dshift.data(), shape.Pixels()};
  Succeed(ops_->BatchNormBackwardData(*stream_, call, sums, r.y.data(), r.dx.data(), r.dx.data()));
  CheckWorkspace();
  return r;
}

MaxPoolResults OpRunner::MaxPool(const PoolShape& shape, const Floats& x, const Floats& dy,
                                 GradientMode mode, Floats dx) {
  MaxPoolResults results;
  results.y.resize(dy.size());
  results.indices.resize(dy.size());
  results.dx = std::move(dx);
  Succeed(
      ops_->MaxPoolForward(*stream_, shape, x.data(), results.y.data(), results.indices.data()));
  Succeed(ops_->MaxPoolBackward(*stream_, shape, dy.data(), results.indices.data(), mode,
                                results.dx.data()));
  return results;
}

LossResults OpRunner::Loss(LossCall call, const Floats& logits) {
  LossResults results;
  results.dlogits.assign(logits.size(), 77.0f);  // must be overwritten
  call.workspace = Workspace(ops_->LossWorkspaceBytes(call.shape));
  Succeed(ops_->LossWeight(*stream_, call, &results.weight_sum));
  Succeed(ops_->SoftmaxCrossEntropy(*stream_, call, logits.data(), &results.weight_sum,
                                    &results.loss_sum, results.dlogits.data()));
  if (call.dice > 0) {
    Succeed(ops_->AddDiceLoss(*stream_, call, logits.data(), &results.weight_sum, &results.loss_sum,
                              results.dlogits.data()));
  }
  CheckWorkspace();
  return results;
}

}  // namespace shardmill
