// What must be the same on all ranks before they start together: data set, options, weights.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/comm/communicator.h"

namespace CLI {
class App;
}  // namespace CLI

namespace shardmill {

struct RankFact {
  std::string name;   // "--epochs", "the data set"
  std::string value;  // one line
};

// How this rank was given the options of a command that was parsed, except those in `own`
// ("--threads"), which may differ, and the files and folders among the arguments.
std::vector<RankFact> OptionFacts(const CLI::App& command, const std::set<std::string>& own);

// To be called by all ranks, with facts of the same names in the same order. InvalidArgument, the
// same on all ranks, names the first rank that differs from rank 0, the fact and both values.
Status CompareFacts(Communicator* communicator, const std::vector<RankFact>& facts);

}  // namespace shardmill
