#include "trainer/engine/shard_threads.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace shardmill {
namespace {

constexpr int kThreads = 6;

// How many threads compute, and the most that did so at once.
class Census {
 public:
  void Enter() {
    std::lock_guard<std::mutex> lock(mutex_);
    most_ = std::max(most_, ++now_);
  }
  void Leave() {
    std::lock_guard<std::mutex> lock(mutex_);
    --now_;
  }
  int most() const { return most_; }

 private:
  std::mutex mutex_;
  int now_ = 0;
  int most_ = 0;
};

// Every thread waits for all others in the middle of its work.
class Meeting {
 public:
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++arrived_;
    all_here_.notify_all();
    all_here_.wait(lock, [&] { return arrived_ == kThreads; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  int arrived_ = 0;
};

TEST(ShardThreads, NoMoreComputeAtOnceThanOpenmpHasThreads) {
  const int before = omp_get_max_threads();
  for (const int allowed : {1, 2, kThreads}) {
    omp_set_num_threads(allowed);
    ShardThreads threads(kThreads);
    Census census;
    Meeting meeting;
    const Status status = threads.Run([&](int) {
      census.Enter();
      census.Leave();
      {
        const ShardThreads::Pause pause(&threads);
        meeting.Wait();  // would never end if those who wait kept their places
      }
      census.Enter();
      for (volatile int i = 0; i < 100000; i = i + 1) {
      }
      census.Leave();
      return OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_LE(census.most(), allowed);
    EXPECT_GE(census.most(), 1);
  }
  omp_set_num_threads(before);
}

TEST(ShardThreads, FailureInOneLeavesAPlaceForTheNextRound) {
  ShardThreads threads(kThreads);
  for (int round = 0; round < 3; ++round) {
    const Status status = threads.Run([&](int thread) -> Status {
      if (thread == 1) throw std::runtime_error("broken");
      return thread == 4 ? InvalidArgumentError("four") : OkStatus();
    });
    EXPECT_EQ(status.code(), StatusCode::kInternal) << status.ToString();
  }
  EXPECT_TRUE(threads.Run([](int) { return OkStatus(); }).ok());
}

}  // namespace
}  // namespace shardmill
