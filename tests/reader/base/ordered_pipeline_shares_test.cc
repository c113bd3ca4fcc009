// Which parts of which items a worker of the pipeline takes.
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "reader/base/ordered_pipeline.h"

namespace shardmill {
namespace {

using Item = OrderedPipeline::Item;
using Size = OrderedPipeline::Size;

PipelineOptions Threads(int threads) {
  PipelineOptions options;
  options.threads = threads;
  return options;
}

OrderedPipeline::Produce ItemsOf(uint64_t count, Size size) {
  return [=](const Item& item) -> Result<std::optional<Size>> {
    if (item.index == count) return std::optional<Size>();
    return std::optional<Size>(size);
  };
}

// The cores that this process may run on.
std::vector<int> AllowedCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

// Moves the calling thread, and those that it starts, to these cores.
void MoveTo(const std::vector<int>& cores) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  for (const int core : cores) CPU_SET(core, &allowed);
  ASSERT_EQ(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}

// While it lives, the threads of this process that are started have one core, so that the system
// cannot move them.
class OneCore {
 public:
  OneCore() : before_(AllowedCores()) { MoveTo({before_.front()}); }
  ~OneCore() { MoveTo(before_); }

 private:
  const std::vector<int> before_;
};

TEST(OrderedPipeline, SharesCoverEveryPartOnceInTheOrderOfTheWorkers) {
  for (const uint32_t parts : {1u, 2u, 3u, 7u, 4096u, ~0u}) {
    for (const int workers : {1, 2, 3, 5, 64}) {
      uint32_t next = 0;
      for (int worker = 0; worker < workers; ++worker) {
        const auto share = OrderedPipeline::ShareOf(parts, worker, workers);
        ASSERT_EQ(share.begin, next);
        ASSERT_LE(share.end - share.begin, uint64_t{parts} / static_cast<uint64_t>(workers) + 1);
        next = share.end;
      }
      ASSERT_EQ(next, parts);
    }
  }
}

// Worker 0 waits in its first part until everything else is done, its own share included.
TEST(OrderedPipeline, AWorkerBeginsWithItsShareAndTheOthersTakeOverWhatItLeaves) {
  constexpr uint32_t kParts = 12;
  constexpr int kWorkers = 3;
  const OneCore one_core;
  std::atomic<uint32_t> done{0};
  std::array<std::atomic<int>, kWorkers> first_parts{};
  for (auto& part : first_parts) part = -1;
  auto work = [&](const Item&, uint32_t part, int worker) {
    int none = -1;
    first_parts[worker].compare_exchange_strong(none, static_cast<int>(part));
    while (worker == 0 && done < kParts - 1) std::this_thread::yield();
    for (const auto& first : first_parts) {  // until all of them are at work
      while (first < 0) std::this_thread::yield();
    }
    ++done;
    return OkStatus();
  };
  auto pipeline = OrderedPipeline::Start(Threads(kWorkers), ItemsOf(1, {0, kParts}), work);
  ASSERT_TRUE(pipeline.ok());
  ASSERT_TRUE((*pipeline)->Take()->has_value());
  EXPECT_EQ(done, kParts);
  for (int worker = 0; worker < kWorkers; ++worker) EXPECT_EQ(first_parts[worker], 4 * worker);
}

// Worker 1 waits in its first part until worker 0 has nothing of its own left in any item.
TEST(OrderedPipeline, AWorkerGoesOnWithItsSharesOfLaterItemsBeforeItTakesOverOthers) {
  constexpr uint32_t kParts = 4;
  constexpr size_t kItems = 3;
  const OneCore one_core;
  std::mutex mutex;
  std::vector<std::pair<uint64_t, uint32_t>> of_worker_0;
  std::atomic<bool> all_published{false};
  std::atomic<size_t> done_by_0{0};
  auto work = [&](const Item& item, uint32_t part, int worker) {
    while (!all_published) std::this_thread::yield();
    while (worker == 1 && done_by_0 < kItems * kParts / 2) std::this_thread::yield();
    if (worker == 1) return OkStatus();
    const std::lock_guard<std::mutex> lock(mutex);
    of_worker_0.emplace_back(item.index, part);
    ++done_by_0;
    return OkStatus();
  };
  PipelineOptions options = Threads(2);
  options.max_in_flight = kItems;
  auto pipeline = OrderedPipeline::Start(options, ItemsOf(kItems, {0, kParts}), work);
  ASSERT_TRUE(pipeline.ok());
  all_published = true;
  for (size_t i = 0; i < kItems; ++i) {
    ASSERT_TRUE((*pipeline)->Take()->has_value());
  }
  ASSERT_GE(of_worker_0.size(), kItems * kParts / 2);
  of_worker_0.resize(kItems * kParts / 2);
  const std::vector<std::pair<uint64_t, uint32_t>> own = {{0, 0}, {0, 1}, {1, 0},
                                                          {1, 1}, {2, 0}, {2, 1}};
  EXPECT_EQ(of_worker_0, own);
}

// The first part of the newest item waits until all others of both items are done, and nobody takes
// an item meanwhile.
TEST(OrderedPipeline, OfTheNewestItemTooTheOthersTakeOverWhatAWorkerLeaves) {
  constexpr uint32_t kParts = 8;
  std::atomic<uint32_t> done{0};
  auto work = [&](const Item& item, uint32_t part, int) {
    while (item.index == 1 && part == 0 && done < 2 * kParts - 1) std::this_thread::yield();
    ++done;
    return OkStatus();
  };
  PipelineOptions options = Threads(2);
  options.max_in_flight = 2;
  auto pipeline = OrderedPipeline::Start(options, ItemsOf(2, {0, kParts}), work);
  ASSERT_TRUE(pipeline.ok());
  while (done < 2 * kParts) std::this_thread::yield();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE((*pipeline)->Take()->has_value());
}

// Each worker works on one part of every item: on its own core first, then on that of the other.
TEST(OrderedPipeline, AShareStaysWithItsCoreWhenTheWorkersAreMoved) {
  constexpr size_t kItems = 3;
  const std::vector<int> cores = AllowedCores();
  if (cores.size() < 2) GTEST_SKIP() << "this needs two cores";
  std::array<std::array<std::atomic<int>, 2>, kItems> worker_of{};
  std::array<std::atomic<int>, kItems> at_work{};
  const auto work = [&](const Item& item, uint32_t part, int worker) {
    worker_of[item.index][part] = worker;
    MoveTo({cores[static_cast<size_t>(item.index == 0 ? worker : 1 - worker)]});
    ++at_work[item.index];
    while (at_work[item.index] < 2) std::this_thread::yield();
    return OkStatus();
  };
  PipelineOptions options = Threads(2);
  options.max_in_flight = 1;
  auto pipeline = OrderedPipeline::Start(options, ItemsOf(kItems, {0, 2}), work);
  ASSERT_TRUE(pipeline.ok());
  for (size_t i = 0; i < kItems; ++i) {
    const auto item = (*pipeline)->Take();
    ASSERT_TRUE(item.ok() && item->has_value());
    (*pipeline)->Release((*item)->slot);
  }
  EXPECT_EQ(worker_of[2][0], worker_of[1][1]);
  EXPECT_EQ(worker_of[2][1], worker_of[1][0]);
}

}  // namespace
}  // namespace shardmill
