// Starts the ranks of this host, one per GPU.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

// The words of this process (without its name), each as it was given. Unavailable when the system
// does not tell.
Result<std::vector<std::string>> OwnWords();

// `words` without --gpus and its value, and with --device cuda unless a device is named.
std::vector<std::string> WordsOfRanks(const std::vector<std::string>& words);

// Becomes `mpirun` with `ranks` ranks of this program and these words: returns only when that
// fails. Ranks are not bound to CPUs, for each has threads of its own; root may start them.
Status BecomeRanks(int ranks, const std::vector<std::string>& words);

}  // namespace shardmill
