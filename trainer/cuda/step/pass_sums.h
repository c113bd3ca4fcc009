// What the passes over one batch leave, added up on the device: first the gradients of the sums of
// losses, then divided once by the weight of the whole batch. The same additions in the same order
// as on the host (trainer/engine/gradient_passes.h), and so the same bits.
#pragma once

#include <cstdint>
#include <functional>

#include "reader/base/status.h"
#include "trainer/cuda/ops/device_op_table.h"
#include "trainer/cuda/step/step_block.h"
#include "trainer/graph/parameters.h"

namespace shardmill {

// One stream, which is that of the graph. All calls enqueue only.
class PassSums {
 public:
  // Takes memory as large as the gradients. Both must outlive the object.
  Status Create(DeviceOpTable* ops, ParameterStore* store);

  // The gradients of a pass that is not the last, before the next one overwrites them.
  Status Keep(Stream& stream, bool is_first);
  // Adds what was kept to the gradients [begin, end) of the last pass.
  Status AddKept(Stream& stream, int64_t begin, int64_t end);
  // Adds weight and loss of a pass to those of the step.
  Status AddNumbers(Stream& stream, StepBlock* block);
  // The gradients of the mean loss.
  Status Divide(Stream& stream, const StepBlock* block);

 private:
  Status Launch(Stream& stream, const OperationNote& note, const std::function<Status()>& launch);
  MemorySpan Gradients(int64_t begin, int64_t end) const;
  MemorySpan Kept(int64_t begin, int64_t end) const;

  DeviceOpTable* ops_ = nullptr;
  ParameterStore* store_ = nullptr;
  DeviceBuffer kept_;
};

}  // namespace shardmill
