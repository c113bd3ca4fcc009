// Long work of one rank that the others wait for, as a write to a slow disk.
//
// A rank that says nothing is taken for lost once the time that ranks wait for each other is over.
// So this rank answers while it works.
#pragma once

#include <functional>

#include "reader/base/status.h"
#include "trainer/comm/communicator.h"

namespace shardmill {

// Runs `work` in a thread of its own, which must not use the communicator, and waits for it. Its
// status, or that of the job where that fails meanwhile. After a long time, which no disk needs,
// the rank answers no more.
Status WorkReachably(Communicator* communicator, const std::function<Status()>& work);

}  // namespace shardmill
