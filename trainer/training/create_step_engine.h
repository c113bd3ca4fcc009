// The step engine of a run.
#pragma once

#include <memory>

#include "reader/base/status.h"
#include "trainer/training/step_engine.h"
#include "trainer/training/train_setup.h"

namespace shardmill {

// Of what the setup holds, which must outlive the engine and stay where it is: on the device where
// that can do the whole step, else on the host.
Result<std::unique_ptr<StepEngine>> CreateStepEngine(TrainSetup* setup, StepEngine::Check check);

}  // namespace shardmill
