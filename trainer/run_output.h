// The output folder of a run, which rank 0 has: first all is checked, then it is taken.
#pragma once

#include "reader/base/status.h"
#include "trainer/train_setup.h"

namespace shardmill {

// Locks the folder and finds out whether the run may and can write what it writes: checkpoints,
// logs and the trace. Of an earlier run nothing is changed.
Status ReserveOutput(TrainSetup* setup);

// The run begins: config.json is that of this run, and what it replaces is removed.
Status TakeOutput(const TrainSetup& setup);

}  // namespace shardmill
