// A fixed number of threads that do the same thing at the same time, again and again.
//
// Each has one OpenMP thread: the operations that it calls do not fan out any further.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

class ShardThreads {
 public:
  explicit ShardThreads(int threads);
  ~ShardThreads();  // joins
  ShardThreads(const ShardThreads&) = delete;
  ShardThreads& operator=(const ShardThreads&) = delete;

  // Calls body(0) … body(threads - 1), each in its own thread, always the same one, and returns
  // when all have. The error of the lowest thread that failed; an exception is Internal.
  Status Run(const std::function<Status(int thread)>& body);

 private:
  void Work(int thread);

  std::mutex mutex_;
  std::condition_variable round_began_, round_ended_;
  const std::function<Status(int)>* body_ = nullptr;  // of the round that runs
  uint64_t round_ = 0;
  int running_ = 0;
  bool ending_ = false;
  std::vector<Status> results_;
  std::vector<std::thread> threads_;
};

}  // namespace shardmill
