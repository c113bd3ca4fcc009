#include "trainer/cuda/step/device_state.h"

#include <algorithm>

#include "trainer/optimization/weight_average.h"

namespace shardmill {
namespace {

constexpr int64_t kFloat = sizeof(float);

void CopyOut(const DeviceBuffer& buffer, std::vector<float>* values) {
  if (values == nullptr) return;
  std::copy_n(static_cast<const float*>(buffer.data()), values->size(), values->begin());
}

void CopyIn(const std::vector<float>* values, const DeviceBuffer& buffer) {
  if (values == nullptr) return;
  std::copy(values->begin(), values->end(), static_cast<float*>(buffer.data()));
}

}  // namespace

Result<std::unique_ptr<DeviceState>> DeviceState::Create(ParameterStore* store, DeviceOpTable* ops,
                                                         const DeviceStateOptions& options) {
  std::unique_ptr<DeviceState> state(new DeviceState(store, ops, options));
  RETURN_IF_ERROR(state->Start());
  return state;
}

// The host reads and writes the state between steps, so it lies in memory of both.
Status DeviceState::Start() {
  const int64_t elements = store_.parameter_elements();
  const int moments = MomentBuffers(options_.optimizer);
  if (moments > 0) {
    ASSIGN_OR_RETURN(first_, DeviceBuffer::CreateShared(&ops_, elements * kFloat));
  }
  if (moments > 1) {
    ASSIGN_OR_RETURN(second_, DeviceBuffer::CreateShared(&ops_, elements * kFloat));
  }
  if (HasAverage()) {
    ASSIGN_OR_RETURN(average_, DeviceBuffer::CreateShared(&ops_, elements * kFloat));
    ASSIGN_OR_RETURN(average_statistics_,
                     DeviceBuffer::CreateShared(&ops_, store_.statistic_elements() * kFloat));
  }
  ASSIGN_OR_RETURN(halted_, DeviceBuffer::CreateShared(&ops_, sizeof(uint32_t)));
  ASSIGN_OR_RETURN(workspace_, DeviceBuffer::Create(
                                   &ops_, StepOps<DeviceOpTable>::NormWorkspaceBytes(elements)));
  std::vector<UpdateRange> ranges;
  for (const ParameterRange& range : options_.ranges) ranges.push_back({range.end, range.decay});
  const auto bytes = static_cast<int64_t>(ranges.size() * sizeof(UpdateRange));
  ASSIGN_OR_RETURN(ranges_, DeviceBuffer::Create(&ops_, bytes));
  ASSIGN_OR_RETURN(const std::unique_ptr<Stream> stream, ops_.CreateStream());
  RETURN_IF_ERROR(ops_.CopyFromHost(*stream, ranges.data(), bytes, ranges_.data()));
  return stream->Synchronize();
}

StepNumbers DeviceState::NextNumbers(double rate, double clip_norm, uint64_t step) {
  const OptimizerOptions& options = options_.optimizer;
  ++steps_taken_;
  StepNumbers numbers;
  numbers.plain = FactorsOf(options, steps_taken_, rate, 0, 1);
  numbers.decayed = FactorsOf(options, steps_taken_, rate, options.weight_decay, 1);
  numbers.clip_norm = clip_norm;
  if (HasAverage()) numbers.average_share = AverageShare(options_.average_decay, step);
  return numbers;
}

Status DeviceState::EnqueueNorm(Stream& stream, StepNumbers* numbers, const double* loss,
                                double* norm) {
  const StepGuard guard = {loss, static_cast<uint32_t*>(halted_.data())};
  return ops_.GradientNorm(stream, store_.parameter_elements(), store_.gradients(), norm, numbers,
                           workspace_.data(), guard);
}

Status DeviceState::EnqueueUpdate(Stream& stream, const StepNumbers* numbers) {
  UpdateBuffers buffers = {};
  buffers.elements = store_.parameter_elements();
  buffers.range_count = static_cast<int>(options_.ranges.size());
  buffers.ranges = static_cast<const UpdateRange*>(ranges_.data());
  buffers.parameters = store_.values();
  buffers.gradients = store_.gradients();
  buffers.first = Floats(first_);
  buffers.second = Floats(second_);
  buffers.narrow = static_cast<Bfloat16*>(store_.narrow_values());
  return ops_.Update(stream, RuleOf(options_.optimizer), buffers, numbers);
}

Status DeviceState::EnqueueAverage(Stream& stream, const StepNumbers* numbers) {
  RETURN_IF_ERROR(ops_.MoveAverage(stream, store_.parameter_elements(), numbers, store_.values(),
                                   Floats(average_)));
  return ops_.MoveAverage(stream, store_.statistic_elements(), numbers, store_.running_statistics(),
                          Floats(average_statistics_));
}

Status DeviceState::CopyToHost(Optimizer* optimizer, std::vector<float>* parameters,
                               std::vector<float>* statistics) const {
  std::vector<MemorySpan> reads = {Span(first_), Span(second_), Span(average_),
                                   Span(average_statistics_)};
  ops_.runtime()->NoteHostAccess({"reads the state", reads, {}});
  std::vector<std::vector<float>>& moments = optimizer->moments();
  for (size_t i = 0; i < moments.size(); ++i) CopyOut(i == 0 ? first_ : second_, &moments[i]);
  optimizer->set_steps_taken(steps_taken_);
  if (!HasAverage()) return OkStatus();
  CopyOut(average_, parameters);
  CopyOut(average_statistics_, statistics);
  return OkStatus();
}

Status DeviceState::CopyFromHost(const Optimizer& optimizer, const std::vector<float>* parameters,
                                 const std::vector<float>* statistics) {
  std::vector<MemorySpan> writes = {Span(first_), Span(second_), Span(average_),
                                    Span(average_statistics_), Span(halted_)};
  ops_.runtime()->NoteHostAccess({"writes the state", {}, writes});
  const std::vector<std::vector<float>>& moments = optimizer.moments();
  for (size_t i = 0; i < moments.size(); ++i) CopyIn(&moments[i], i == 0 ? first_ : second_);
  steps_taken_ = optimizer.steps_taken();
  *static_cast<uint32_t*>(halted_.data()) = 0;
  if (HasAverage()) {
    CopyIn(parameters, average_);
    CopyIn(statistics, average_statistics_);
  }
  return store_.NarrowValues();
}

std::vector<MemorySpan> DeviceState::Weights() const {
  const int64_t elements = store_.parameter_elements();
  std::vector<MemorySpan> spans = {
      {store_.values(), elements * kFloat}, Span(first_), Span(second_)};
  if (store_.narrow_values() != nullptr) spans.push_back({store_.narrow_values(), elements * 2});
  return spans;
}

MemorySpan DeviceState::Gradients() const {
  return {store_.gradients(), store_.parameter_elements() * kFloat};
}

std::vector<MemorySpan> DeviceState::Norm() const { return {Span(workspace_), Span(halted_)}; }

std::vector<MemorySpan> DeviceState::Average() const {
  return {Span(average_), Span(average_statistics_)};
}

MemorySpan DeviceState::Statistics() const {
  return {store_.running_statistics(), store_.statistic_elements() * kFloat};
}

}  // namespace shardmill
