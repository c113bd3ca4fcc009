// The steps of a training run on a device; see step_engine.h and device_step.h.
#pragma once

#include <memory>

#include "reader/base/status.h"
#include "trainer/training/step_engine.h"
#include "trainer/training/train_setup.h"

namespace shardmill {

// Whether the device of the setup can do whole steps of this run: it is one, it knows the other
// ranks, and a step takes one pass.
bool DoesWholeSteps(const TrainSetup& setup);

// REQUIRES: that. The setup must outlive the engine and stay where it is.
Result<std::unique_ptr<StepEngine>> CreateDeviceStepEngine(TrainSetup* setup,
                                                           StepEngine::Check check);

}  // namespace shardmill
