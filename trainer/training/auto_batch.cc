#include "trainer/training/auto_batch.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "reader/console/units.h"
#include "trainer/comm/job_end.h"
#include "trainer/cuda/ops/device_op_table.h"
#include "trainer/training/step_memory_of.h"

namespace shardmill {
namespace {

constexpr int64_t kMostBatch = 65536;  // as of the option --batch

int64_t MostBatch(const TrainSetup& setup) {
  return std::min(kMostBatch, static_cast<int64_t>(setup.train_records));
}

Result<int64_t> FreeBytes(const TrainSetup& setup) {
  return setup.device.device_ops->runtime()->FreeBytes();
}

Result<std::string> ChoiceText(const TrainSetup& setup, int64_t batch) {
  const int ranks = setup.communicator->size();
  ASSIGN_OR_RETURN(const StepMemory memory, StepMemoryOf(setup, batch));
  ASSIGN_OR_RETURN(const int64_t free_bytes, FreeBytes(setup));
  const bool is_all = batch + SmallestBatch(setup) > MostBatch(setup);
  return "--batch auto: " + std::to_string(batch) +
         (is_all ? ", as large as can be" : ", the largest that fits") +
         (ranks > 1 ? " on all " + std::to_string(ranks) + " ranks" : "") + " (" + memory.Text() +
         "; " + FormatBytes(static_cast<uint64_t>(free_bytes)) + " were free, " +
         FormatBytes(static_cast<uint64_t>(memory.reserve)) + " of them are kept for CUDA" +
         (ranks > 1 ? " and NCCL)" : ")");
}

}  // namespace

Result<int64_t> LargestThatFits(int64_t most, const std::function<Result<bool>(int64_t)>& fits) {
  int64_t good = 0, bad = most + 1;
  for (int64_t next = 1; good + 1 < bad; next = std::min(2 * next, bad - 1)) {
    ASSIGN_OR_RETURN(const bool fit, fits(next));
    if (!fit) {
      bad = next;
      break;
    }
    good = next;
  }
  while (good + 1 < bad) {
    const int64_t middle = good + (bad - good) / 2;
    ASSIGN_OR_RETURN(const bool fit, fits(middle));
    (fit ? good : bad) = middle;
  }
  return good;
}

Result<bool> FitsBesideReserve(const Result<StepMemory>& memory, int64_t free_bytes) {
  if (memory.status().code() == StatusCode::kInvalidArgument) return false;
  RETURN_IF_ERROR(memory.status());
  return memory->ToAllocate() + memory->reserve <= free_bytes;
}

Result<int64_t> SmallestOf(const std::vector<std::string>& counts) {
  int64_t smallest = kMostBatch;
  for (const std::string& text : counts) {
    int64_t count = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, count);
    if (parsed.ec != std::errc() || parsed.ptr != end || count < 1) {
      return InternalError("a rank sent no batch: '" + text + "'");
    }
    smallest = std::min(smallest, count);
  }
  return smallest;
}

int64_t SmallestBatch(const TrainSetup& setup) {
  return setup.communicator->size() * int64_t{setup.config.accumulate()};
}

Result<int64_t> LargestOfThisRank(const TrainSetup& setup) {
  if (setup.device.device_ops == nullptr) {
    return InvalidArgumentError(
        "--batch auto fills the memory of a GPU, but this run takes the CPU: give a number");
  }
  const int64_t step = SmallestBatch(setup);
  ASSIGN_OR_RETURN(const int64_t free_bytes, FreeBytes(setup));
  ASSIGN_OR_RETURN(const int64_t count,
                   LargestThatFits(MostBatch(setup) / step, [&](int64_t count) -> Result<bool> {
                     return FitsBesideReserve(StepMemoryOf(setup, count * step), free_bytes);
                   }));
  if (count > 0) return count;
  // The setup has been prepared with this batch, so it is another one that lacks memory.
  RETURN_IF_ERROR(CheckStepFits(setup, step));
  return UnavailableError("--batch auto: a batch of " + std::to_string(step) +
                          " leaves too little for CUDA itself; it may fit if you ask for it");
}

Result<BatchChoice> ChooseBatch(const TrainRequest& request) {
  Communicator* const ranks = request.communicator;
  TrainRequest smallest = request;
  smallest.measure_only = true;
  ASSIGN_OR_RETURN(const TrainSetup setup, PrepareTraining(smallest));
  const Result<int64_t> own = LargestOfThisRank(setup);
  RETURN_IF_ERROR(AgreeOnStatus(ranks, own.status(), "choice of a batch"));
  ASSIGN_OR_RETURN(const std::vector<std::string> counts,
                   ranks->Gather(std::to_string(*own), "largest batch that fits"));
  ASSIGN_OR_RETURN(const int64_t count, SmallestOf(counts));
  BatchChoice choice;
  choice.batch = count * SmallestBatch(setup);
  ASSIGN_OR_RETURN(choice.text, ChoiceText(setup, choice.batch));
  return choice;
}

}  // namespace shardmill
