// The communicator of a rank of the tests, for cases that run on all ranks at once.
#pragma once

#include "trainer/comm/communicator.h"

namespace shardmill {

// That of the job; of one rank when the program was started alone.
Communicator* JobCommunicator();

}  // namespace shardmill
