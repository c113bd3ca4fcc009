#include "trainer/engine/shard_threads.h"

#include <omp.h>

#include <algorithm>

#include "reader/base/exception_status.h"

namespace shardmill {
namespace {

Status Fenced(const std::function<Status(int)>& body, int thread) {
  try {
    return body(thread);
  } catch (...) {
    return ExceptionStatus("in a micro-shard's thread");
  }
}

}  // namespace

ShardThreads::ShardThreads(int threads)
    : at_once_(std::min(threads, omp_get_max_threads())), places_(at_once_), results_(threads) {
  for (int thread = 0; thread < threads; ++thread) {
    threads_.emplace_back([this, thread] { Work(thread); });
  }
}

ShardThreads::~ShardThreads() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  round_began_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ShardThreads::Work(int thread) {
  omp_set_num_threads(1);  // of this thread
  uint64_t done = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    round_began_.wait(lock, [&] { return ending_ || round_ != done; });
    if (ending_) return;
    done = round_;
    lock.unlock();
    BeginWork();
    Status result = Fenced(*body_, thread);
    EndWork();
    lock.lock();
    results_[thread] = std::move(result);
    if (--running_ == 0) round_ended_.notify_all();
  }
}

void ShardThreads::BeginWork() {
  std::unique_lock<std::mutex> lock(places_mutex_);
  place_left_.wait(lock, [&] { return places_ > 0; });
  --places_;
}

void ShardThreads::EndWork() {
  {
    std::lock_guard<std::mutex> lock(places_mutex_);
    ++places_;
  }
  place_left_.notify_one();
}

Status ShardThreads::Run(const std::function<Status(int)>& body) {
  std::unique_lock<std::mutex> lock(mutex_);
  body_ = &body;
  running_ = static_cast<int>(threads_.size());
  ++round_;
  round_began_.notify_all();
  round_ended_.wait(lock, [&] { return running_ == 0; });
  for (const Status& result : results_) {
    if (!result.ok()) return result;
  }
  return OkStatus();
}

}  // namespace shardmill
