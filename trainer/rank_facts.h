// What must be the same on all ranks before they start together: data set, options, weights.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/comm/communicator.h"

namespace shardmill {

struct RankFact {
  std::string name;   // "--epochs", "the data set"
  std::string value;  // one line
};

// To be called by all ranks, with facts of the same names in the same order. InvalidArgument, the
// same on all ranks, names the first rank that differs from rank 0, the fact and both values.
Status CompareFacts(Communicator* communicator, const std::vector<RankFact>& facts);

}  // namespace shardmill
