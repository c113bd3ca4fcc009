// A fixed number of threads that do the same thing at the same time, again and again.
//
// Each has one OpenMP thread: the operations that it calls do not fan out any further. No more of
// them compute at once than the thread that makes this object has OpenMP threads (--threads); those
// that wait for the others count as paused.
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

  // How many compute at a time.
  int at_once() const { return at_once_; }

  // Made by a thread of Run around a wait for the others: lets one of them compute meanwhile.
  class Pause {
   public:
    explicit Pause(ShardThreads* threads) : threads_(threads) { threads_->EndWork(); }
    ~Pause() { threads_->BeginWork(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    ShardThreads* threads_;
  };

 private:
  void Work(int thread);
  void BeginWork();  // waits until it may
  void EndWork();

  std::mutex places_mutex_;
  std::condition_variable place_left_;
  int at_once_;
  int places_;  // for threads that may begin to compute
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
