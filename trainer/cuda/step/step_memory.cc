#include "trainer/cuda/step/step_memory.h"

#include <algorithm>

#include "reader/console/units.h"
#include "trainer/cuda/step/input_slots.h"

namespace shardmill {

std::string StepMemory::Text() const {
  return "arena " + FormatBytes(arena) + ", optimizer " + FormatBytes(optimizer) + ", input " +
         FormatBytes(input) + "; parameters " + FormatBytes(parameters);
}

Result<StepMemory> MeasureStep(Graph* graph, const StepMemoryRequest& request) {
  const ParameterStore& store = graph->parameters();
  StepMemory memory;
  memory.parameters = store.bytes();
  ASSIGN_OR_RETURN(memory.arena, graph->ArenaBytesFor(request.images, Phase::kTraining));
  if (request.evaluation.n > 0) {
    ASSIGN_OR_RETURN(const int64_t evaluation,
                     graph->ArenaBytesFor(request.evaluation, Phase::kEvaluation));
    memory.arena = std::max(memory.arena, evaluation);
  }
  int64_t elements = MomentBuffers(request.optimizer) * store.parameter_elements();
  if (request.average) elements += store.parameter_elements() + store.statistic_elements();
  memory.optimizer = elements * static_cast<int64_t>(sizeof(float));
  memory.input = kInputSlots * InputSlotBytes(request.batch_bytes, request.images.n);
  return memory;
}

Status CheckFits(const StepMemory& memory, int64_t batch, int64_t free_bytes) {
  if (memory.ToAllocate() <= free_bytes) return OkStatus();
  return UnavailableError("out of GPU memory: a batch of " + std::to_string(batch) +
                          " per GPU needs " + FormatBytes(memory.ToAllocate()) + " more (" +
                          memory.Text() + " are there already), but " + FormatBytes(free_bytes) +
                          " are free: use a smaller --batch, smaller images (--train-crop), "
                          "--accumulate, --precision bf16 or a smaller --width");
}

}  // namespace shardmill
