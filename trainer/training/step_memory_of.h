// What a step of a run needs on its device: for --batch auto, and for clear words where a batch
// does not fit.
#pragma once

#include <cstdint>

#include "reader/base/status.h"
#include "trainer/cuda/step/step_memory.h"
#include "trainer/training/train_setup.h"

namespace shardmill {

// REQUIRES of the setup: config, data set, task, augment and communicator. `batch`: of all ranks.
Result<StepMemoryRequest> StepMemoryRequestOf(const TrainSetup& setup, int64_t batch);

// How many images are scored at once during a training whose batch is cut into passes: as many as
// one pass trains on, of all ranks.
int64_t EvaluationBatch(int64_t batch, int passes);

// Of this rank. REQUIRES: the graph too.
Result<StepMemory> StepMemoryOf(const TrainSetup& setup, int64_t batch);

// Unavailable, with the numbers, unless the free memory of the device is enough. OK where the
// memory is that of the host.
Status CheckStepFits(const TrainSetup& setup, int64_t batch);

}  // namespace shardmill
