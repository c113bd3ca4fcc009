// Chooses the communicator that fits how this process was started.
#pragma once

#include <memory>

#include "trainer/comm/communicator.h"

namespace shardmill {

// `self` for one rank, `mpi` when a launcher (mpirun, srun) started more; see launch.h. All ranks
// must call it, once.
Result<std::unique_ptr<Communicator>> CreateCommunicator(const CommunicatorOptions& options);

}  // namespace shardmill
