// The communicator of a job with one rank: nothing to exchange, nothing to wait for.
#pragma once

#include <memory>

#include "trainer/comm/communicator.h"

namespace shardmill {

std::unique_ptr<Communicator> CreateSelfCommunicator();

}  // namespace shardmill
