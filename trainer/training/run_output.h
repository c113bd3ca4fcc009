// The output folder of a run, which rank 0 has: first all is checked, then it is taken.
#pragma once

#include <string>

#include "reader/base/status.h"
#include "trainer/training/train_setup.h"

namespace shardmill {

// Locks the folder and finds out whether the run may and can write what it writes: checkpoints,
// logs and the trace. Of an earlier run nothing is changed.
Status ReserveOutput(TrainSetup* setup);

// Whether the run goes on in the folder of the checkpoint from which it is resumed, whose logs are
// its own. Elsewhere it begins new ones.
bool GoesOnInPlace(const TrainSetup& setup);

// The run begins: config.json is that of this run, and what it replaces is removed. A run that goes
// on has its best checkpoint in the folder, or none and chooses it anew; the result then says so.
Result<std::string> TakeOutput(TrainSetup* setup);

}  // namespace shardmill
