#include "reader/base/run_on_threads.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "reader/base/exception_status.h"

namespace shardmill {
namespace {

Status Fenced(const std::function<Status(int)>& work, int thread) {
  try {
    return work(thread);
  } catch (...) {
    return ExceptionStatus("in a thread");
  }
}

}  // namespace

Status RunOnThreads(int threads, const std::function<Status(int thread)>& work) {
  threads = std::max(threads, 1);
  std::vector<Status> statuses(static_cast<size_t>(threads));
  std::vector<std::thread> others;
  others.reserve(static_cast<size_t>(threads) - 1);
  for (int thread = 1; thread < threads; ++thread) {
    Status* const status = &statuses[static_cast<size_t>(thread)];
    try {
      others.emplace_back([&work, thread, status] { *status = Fenced(work, thread); });
    } catch (const std::system_error&) {
      break;
    } catch (const std::bad_alloc&) {
      break;
    }
  }
  statuses[0] = Fenced(work, 0);
  for (std::thread& other : others) other.join();
  for (const Status& status : statuses) RETURN_IF_ERROR(status);
  return OkStatus();
}

}  // namespace shardmill
