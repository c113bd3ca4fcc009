#include "trainer/comm/reachable_work.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "reader/base/exception_status.h"

namespace shardmill {
namespace {

constexpr std::chrono::milliseconds kBetweenAnswers(5);
constexpr std::chrono::minutes kLongestWork(10);

// A thread, and its result.
class Worker {
 public:
  explicit Worker(const std::function<Status()>& work)
      : thread_([this, &work] {
          Status result;
          try {
            result = work();
          } catch (...) {
            result = ExceptionStatus("while other ranks wait");
          }
          const std::lock_guard<std::mutex> lock(mutex_);
          result_ = result;
          done_ = true;
          changed_.notify_one();
        }) {}
  ~Worker() {
    if (thread_.joinable()) thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // True when the work is done.
  bool WaitFor(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return done_; });
  }
  Status Join() {
    thread_.join();
    return result_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  Status result_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace

Status WorkReachably(Communicator* communicator, const std::function<Status()>& work) {
  if (communicator->size() == 1) return work();
  try {
    Worker worker(work);
    const auto end = std::chrono::steady_clock::now() + kLongestWork;
    Status answered;
    while (!worker.WaitFor(kBetweenAnswers)) {
      if (answered.ok() && std::chrono::steady_clock::now() < end) {
        answered = communicator->Progress();
      }
    }
    const Status result = worker.Join();
    return answered.ok() ? result : answered;
  } catch (const std::system_error& error) {
    return UnavailableError(std::string("cannot start a thread: ") + error.what());
  }
}

}  // namespace shardmill
