// Divides work among threads that come as the system gives them.
#pragma once

#include <functional>

#include "reader/base/status.h"

namespace shardmill {

// Calls work(0), work(1), … work(threads - 1), the first on the calling thread and each other one
// on a thread of its own, and returns when all have ended. When the system refuses a thread, the
// calls from there on are left out: work must be taken piece by piece, so that those that run do
// all of it. The status is the first, by number, that is not OK. An exception that leaves work
// becomes one too: Io when memory ran out.
Status RunOnThreads(int threads, const std::function<Status(int thread)>& work);

}  // namespace shardmill
