// Whether all ranks train the same network.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "trainer/comm/communicator.h"
#include "trainer/engine/batch_engine.h"
#include "trainer/optimization/optimizer.h"

namespace shardmill {

// Gives all ranks the values of rank 0.
Status BroadcastValues(Communicator* communicator, std::vector<float>* values,
                       std::string_view name);
// Gives all ranks the parameters, statistics and moments of rank 0.
Status BroadcastState(Communicator* communicator, Graph* graph, Optimizer* optimizer);

// Internal, naming ranks and hashes, unless `hash` is the same on all ranks.
Status CompareHashes(Communicator* communicator, const std::string& hash, uint64_t step);

}  // namespace shardmill
