// How a command of several ranks ends: with one message and one exit code of the job.
#pragma once

#include <string_view>

#include "reader/base/status.h"
#include "trainer/comm/communicator.h"

namespace shardmill {

// All ranks bring how the same work went on each of them, and get the same answer: OK when it
// went well everywhere, else the error of the lowest rank that failed.
Status AgreeOnStatus(Communicator* communicator, const Status& own, std::string_view name);

enum class Known {
  kHere,  // this rank alone knows of the error
  // Every rank ends with an error of this code at the same place; or the job has failed, and all
  // have been told.
  kOnAllRanks,
};

// Ends the job on this rank; the result is that of the command. With one rank: `status`. With
// several: closes the communicator, or aborts the job where `status` is known here only. Errors are
// printed here, one that all know of by rank 0; the result is the exit code, the same on all ranks.
Result<int> EndJob(Communicator* communicator, const Status& status, Known known);

}  // namespace shardmill
