// Finds the dependencies that a recorded run forgot.
//
// Two accesses to the same memory, one of them a write, must be ordered: by their stream, by events
// or by the host waiting. What is only ordered by luck of timing is a fault, whether it shows or
// not: a read that may overtake its write, a write into what may still be read, memory that is
// freed or read before it was written.
#pragma once

#include <string>
#include <vector>

#include "trainer/cuda/runtime/recording_runtime.h"

namespace shardmill {

// One line per fault: "step 12, "forward", reads what step 9, "copy to device", may not have
// written yet". Empty: none.
std::vector<std::string> FindMissingDependencies(const std::vector<RecordedStep>& log);

}  // namespace shardmill
