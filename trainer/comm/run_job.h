// How a command begins that several ranks may have been started with.
//
// All ranks first tell each other whether they can start: a mistake in the words or the files of
// one rank ends the job at once, with its error, and lets no other rank wait for it. So every rank
// must come here, also one that does not know what to do.
#pragma once

#include <functional>
#include <string>

#include "reader/base/status.h"
#include "trainer/comm/communicator.h"

namespace shardmill {

// `own`: OK, or what keeps this rank from starting. Runs `body` when it is OK on all ranks; else
// ends the job, and the result is as that of EndJob.
Result<int> RunJob(const CommunicatorOptions& options, const Status& own,
                   const std::function<Result<int>(Communicator*)>& body);

// The same for a command that knows no other ranks: where there are some, it is refused. `command`
// is its name.
Result<int> RunAlone(const std::string& command,
                     const std::function<Result<int>(Communicator*)>& body);

}  // namespace shardmill
