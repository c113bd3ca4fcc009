// The runtime on the current device of this process.
#pragma once

#include <memory>

#include "trainer/cuda/runtime/runtime.h"

namespace shardmill {

// Out of memory is Unavailable, with what was asked for and what is free.
// `was_interrupted`: whether the user wants the program to end; see device_wait.h. The plug-in
// cannot know by itself, for the handlers of signals are the program's. Null: never.
std::unique_ptr<CudaRuntime> CreateDeviceRuntime(bool (*was_interrupted)() = nullptr);

}  // namespace shardmill
