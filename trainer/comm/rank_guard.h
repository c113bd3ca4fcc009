// A small parent process for each rank, so that a rank that dies leaves a message and a sound exit
// code behind.
//
// Launchers end a job when a rank is killed, but say neither at which step nor in which call it
// died, and their exit code is that of the signal. The guard is forked before anything else runs,
// hands signals on, and looks at the page that it shares with the rank when the rank is gone.
#pragma once

#include <functional>

namespace shardmill {

// Runs the program. With one rank: calls `body`. With several (see launch.h) forks: the child
// returns from here with body's result, and the guard with the child's exit code, or 5 after a
// message on standard error when the rank was killed, crashed, left without ending the job, or
// hangs in the start or the end of MPI. Call first in main: one thread, nothing open.
int RunGuarded(int argc, char** argv, const std::function<int()>& body);

}  // namespace shardmill
