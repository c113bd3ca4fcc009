// The communicator over MPI, through the plug-in (mpi_plugin.h).
//
// Every wait is a loop that polls, so that it can also listen and look at the clock. Before a call
// each rank notes it to rank 0, and rank 0 to rank 1. Past the deadline rank 0 asks all ranks
// whether they are waiting too; who does not answer, or has not come to the call, is named and the
// job is aborted. When rank 0 itself is silent, rank 1 does the same a little later, then the
// others.
#pragma once

#include <memory>

#include "reader/base/launch.h"
#include "trainer/comm/communicator.h"

namespace shardmill {

// Starts MPI; all ranks must call it. Once per process.
Result<std::unique_ptr<Communicator>> CreateMpiCommunicator(const Launch& launch,
                                                            const CommunicatorOptions& options);

}  // namespace shardmill
