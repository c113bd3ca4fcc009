// The numbers of a step: one block on the device, and pinned blocks in which they travel.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "trainer/cuda/kernels/update.h"
#include "trainer/cuda/runtime/runtime.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

// On the device it is followed by the keys of dropout.
struct StepBlock {
  StepNumbers numbers;  // to the device
  // Of all ranks. Those that follow one another are added over the ranks together: of a step in one
  // pass without the weight, which is needed before backward.
  double weight = 0;  // of the labels
  double loss = 0;    // times the weight
  double stop = 0;    // how many ranks were asked to stop
  double norm = 0;    // of the gradient
  // Of one of several passes: weight and loss, and what its gradient is divided by.
  double pass_weight = 0, pass_loss = 0;
  double one = 1;
};

// So many steps may be under way; each has pinned blocks of its own. One thread at a time.
class StepBlockRing {
 public:
  StepBlockRing() = default;
  ~StepBlockRing();
  StepBlockRing(const StepBlockRing&) = delete;
  StepBlockRing& operator=(const StepBlockRing&) = delete;

  Status Create(OpTable* ops, CudaRuntime* runtime, int steps, int dropout_layers);

  // Enqueues the copy to the device for step `step`, counted from 0.
  Status Upload(StreamHandle stream, int64_t step, const StepBlock& block,
                const std::vector<uint64_t>& keys);
  // Enqueues the copy back; it is done when Done(step) is.
  Status Download(StreamHandle stream, int64_t step);
  EventHandle Done(int64_t step) const { return pinned_[step % Steps()].done; }
  // REQUIRES: the host has waited for Done(step).
  StepBlock Read(int64_t step) const;

  StepBlock* device() const { return static_cast<StepBlock*>(device_.data()); }
  const uint64_t* keys() const { return reinterpret_cast<const uint64_t*>(device() + 1); }
  MemorySpan Span() const { return {device_.data(), device_.bytes()}; }

 private:
  struct Pinned {
    char* up = nullptr;
    char* down = nullptr;
    EventHandle done = nullptr;
  };
  int64_t Steps() const { return static_cast<int64_t>(pinned_.size()); }

  CudaRuntime* runtime_ = nullptr;
  DeviceBuffer device_;
  std::vector<Pinned> pinned_;
};

}  // namespace shardmill
