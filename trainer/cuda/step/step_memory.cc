#include "trainer/cuda/step/step_memory.h"

#include <algorithm>

#include "reader/console/units.h"
#include "trainer/cuda/step/input_slots.h"

namespace shardmill {

std::string StepMemory::Text() const {
  return "arena " + FormatBytes(arena) + ", optimizer " + FormatBytes(optimizer) + ", input " +
         FormatBytes(input) + ", evaluation " + FormatBytes(evaluation) + "; parameters " +
         FormatBytes(parameters);
}

namespace {

constexpr int64_t kPredictionBytes = 2;  // of a pixel
constexpr int64_t kProbabilityBytes = sizeof(float);

// Of the passes, which may have one row more or less, and of the evaluation.
Status MeasureArena(Graph* graph, const StepMemoryRequest& request, int64_t* bytes) {
  const int64_t most = request.PassRows();
  for (const int64_t rows : {most, request.rows / request.passes}) {
    if (rows < 1 || (rows == most && *bytes > 0)) continue;
    Shape images = request.images;
    images.n = rows;
    ASSIGN_OR_RETURN(const int64_t pass, graph->ArenaBytesFor(images, Phase::kTraining));
    *bytes = std::max(*bytes, pass);
  }
  if (request.evaluation.n == 0) return OkStatus();
  ASSIGN_OR_RETURN(const int64_t evaluation,
                   graph->ArenaBytesFor(request.evaluation, Phase::kEvaluation));
  *bytes = std::max(*bytes, evaluation);
  return OkStatus();
}

}  // namespace

Result<StepMemory> MeasureStep(Graph* graph, const StepMemoryRequest& request) {
  const ParameterStore& store = graph->parameters();
  StepMemory memory;
  memory.parameters = store.bytes();
  RETURN_IF_ERROR(MeasureArena(graph, request, &memory.arena));
  int64_t elements = MomentBuffers(request.optimizer) * store.parameter_elements();
  if (request.passes > 1) elements += store.parameter_elements();
  if (request.average) elements += store.parameter_elements() + store.statistic_elements();
  memory.optimizer = elements * static_cast<int64_t>(sizeof(float));
  memory.input = kInputSlots * InputSlotBytes(request.BatchBytes(), request.rows) +
                 request.PassRows() * request.label_bytes;
  if (request.hard_pixels) {
    memory.input += request.PassRows() * request.images.Pixels() * kProbabilityBytes;
  }
  const Shape& evaluation = request.evaluation;
  memory.evaluation =
      evaluation.n * request.evaluation_row_bytes + evaluation.Pixels() * kPredictionBytes;
  memory.reserve = kCodeReserve + (request.ranks > 1 ? kRanksReserve : 0);
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
