#include "trainer/cuda/step/pass_sums.h"

namespace shardmill {
namespace {

constexpr int64_t kFloat = sizeof(float);
constexpr int64_t kPair = 2 * sizeof(double);

}  // namespace

Status PassSums::Create(DeviceOpTable* ops, ParameterStore* store) {
  ops_ = ops;
  store_ = store;
  ASSIGN_OR_RETURN(kept_, DeviceBuffer::Create(ops, store->parameter_elements() * kFloat));
  return OkStatus();
}

MemorySpan PassSums::Gradients(int64_t begin, int64_t end) const {
  return {store_->gradients() + begin, (end - begin) * kFloat};
}

MemorySpan PassSums::Kept(int64_t begin, int64_t end) const {
  return {static_cast<const float*>(kept_.data()) + begin, (end - begin) * kFloat};
}

Status PassSums::Launch(Stream& stream, const OperationNote& note,
                        const std::function<Status()>& launch) {
  return ops_->runtime()->Launch(ops_->HandleOf(stream), note,
                                 [&](StreamHandle) { return launch(); });
}

Status PassSums::Keep(Stream& stream, bool is_first) {
  const int64_t count = store_->parameter_elements();
  OperationNote note = {"keep gradients", {Gradients(0, count)}, {Kept(0, count)}};
  if (!is_first) note.reads.push_back(Kept(0, count));
  return Launch(stream, note, [&] {
    return ops_->AddUp(stream, count, is_first, store_->gradients(),
                       static_cast<float*>(kept_.data()));
  });
}

Status PassSums::AddKept(Stream& stream, int64_t begin, int64_t end) {
  const OperationNote note = {
      "add kept gradients", {Kept(begin, end), Gradients(begin, end)}, {Gradients(begin, end)}};
  return Launch(stream, note, [&] {
    return ops_->AddUp(stream, end - begin, /*is_first=*/false,
                       static_cast<const float*>(kept_.data()) + begin,
                       store_->gradients() + begin);
  });
}

Status PassSums::AddNumbers(Stream& stream, StepBlock* block) {
  const MemorySpan sums = {&block->weight, kPair};
  return Launch(stream, {"add numbers", {sums, {&block->pass_weight, kPair}}, {sums}},
                [&] { return ops_->AddNumbers(stream, 2, &block->pass_weight, &block->weight); });
}

Status PassSums::Divide(Stream& stream, const StepBlock* block) {
  const int64_t count = store_->parameter_elements();
  const MemorySpan gradients = Gradients(0, count);
  const MemorySpan weight = {&block->weight, sizeof(double)};
  return Launch(stream, {"divide gradients", {gradients, weight}, {gradients}},
                [&] { return ops_->Divide(stream, count, &block->weight, store_->gradients()); });
}

}  // namespace shardmill
