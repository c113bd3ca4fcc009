#include "reader/base/ordered_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace shardmill {
namespace {

using Item = OrderedPipeline::Item;
using Size = OrderedPipeline::Size;

PipelineOptions Threads(int threads) {
  PipelineOptions options;
  options.threads = threads;
  return options;
}

// Burns a little time that depends on the item, so that items finish out of order.
void Spin(uint64_t index) {
  volatile uint64_t sink = 0;
  for (uint64_t i = 0; i < (index * 7919) % 5000; ++i) sink = sink + i;
}

TEST(RunOrdered, ConsumesEveryItemInOrderOnAnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 8}) {
    std::vector<uint64_t> seen;
    const Status status = RunOrdered<std::string>(
        Threads(threads), 500,
        [](uint64_t index, int) -> Result<std::string> {
          Spin(index);
          return std::to_string(index);
        },
        [&](uint64_t index, std::string output) {
          EXPECT_EQ(output, std::to_string(index));
          seen.push_back(index);
          return OkStatus();
        });
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(seen.size(), 500u);
    for (uint64_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i);
  }
}

TEST(RunOrdered, NoItemsIsOk) {
  const Status status = RunOrdered<int>(
      Threads(2), 0, [](uint64_t, int) -> Result<int> { return 1; },
      [](uint64_t, int) { return InternalError("there is nothing to consume"); });
  EXPECT_TRUE(status.ok());
}

TEST(RunOrdered, MoveOnlyOutputsAndWorkerNumbersInRange) {
  std::atomic<int> bad_workers{0};
  uint64_t sum = 0;
  const Status status = RunOrdered<std::unique_ptr<uint64_t>>(
      Threads(3), 100,
      [&](uint64_t index, int worker) -> Result<std::unique_ptr<uint64_t>> {
        if (worker < 0 || worker >= 3) ++bad_workers;
        return std::make_unique<uint64_t>(index);
      },
      [&](uint64_t, std::unique_ptr<uint64_t> output) {
        sum += *output;
        return OkStatus();
      });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(bad_workers, 0);
  EXPECT_EQ(sum, 4950u);
}

TEST(RunOrdered, ErrorOfTheLowestItemWinsAndAllItemsBeforeItAreConsumed) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    uint64_t consumed = 0;
    const Status status = RunOrdered<int>(
        Threads(4), 200,
        [](uint64_t index, int) -> Result<int> {
          if (index == 37) Spin(4999);
          if (index == 37 || index == 38 || index == 41) {
            return DataLossError("item " + std::to_string(index));
          }
          return 0;
        },
        [&](uint64_t, int) {
          ++consumed;
          return OkStatus();
        });
    ASSERT_EQ(status.ToString(), "DataLoss: item 37");
    ASSERT_EQ(consumed, 37u);
  }
}

TEST(RunOrdered, ConsumerErrorEndsThePipeline) {
  uint64_t consumed = 0;
  const Status status = RunOrdered<int>(
      Threads(2), 100, [](uint64_t, int) -> Result<int> { return 0; },
      [&](uint64_t index, int) {
        ++consumed;
        return index == 5 ? IoError("disk full") : OkStatus();
      });
  EXPECT_EQ(status.ToString(), "Io: disk full");
  EXPECT_EQ(consumed, 6u);
}

TEST(RunOrdered, ExceptionInAWorkerBecomesInternal) {
  const Status status = RunOrdered<int>(
      Threads(2), 10,
      [](uint64_t index, int) -> Result<int> {
        if (index == 3) throw std::runtime_error("thrown at 3");
        if (index == 4) throw 4;
        return 0;
      },
      [](uint64_t, int) { return OkStatus(); });
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find("thrown at 3"), std::string::npos);
}

TEST(RunOrdered, MemoryThatIsNotToBeHadIsTroubleOfTheMachine) {
  const Status status = RunOrdered<int>(
      Threads(2), 10, [](uint64_t, int) -> Result<int> { return 0; },
      [](uint64_t, int) -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find("out of memory; give more"), std::string::npos);
}

// Counts the declared bytes between the start of work and the end of consumption.
uint64_t PeakBytes(PipelineOptions options, const std::vector<uint64_t>& sizes) {
  std::atomic<uint64_t> now{0};
  std::atomic<uint64_t> peak{0};
  options.item_bytes = [&](uint64_t index) { return sizes[index]; };
  const Status status = RunOrdered<int>(
      options, sizes.size(),
      [&](uint64_t index, int) -> Result<int> {
        const uint64_t value = now.fetch_add(sizes[index]) + sizes[index];
        uint64_t previous = peak.load();
        while (previous < value && !peak.compare_exchange_weak(previous, value)) {
        }
        Spin(index);
        return 0;
      },
      [&](uint64_t index, int) {
        now.fetch_sub(sizes[index]);
        return OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status.ToString();
  return peak;
}

TEST(RunOrdered, DeclaredBytesStayWithinTheBudget) {
  std::vector<uint64_t> sizes;
  for (uint64_t i = 0; i < 400; ++i) sizes.push_back(1 + (i * 7919) % 40);
  PipelineOptions options = Threads(4);
  options.max_in_flight = 64;
  options.max_bytes = 100;
  EXPECT_LE(PeakBytes(options, sizes), 100u);
}

TEST(RunOrdered, AnItemLargerThanTheBudgetPassesAlone) {
  PipelineOptions options = Threads(2);
  options.max_bytes = 10;
  EXPECT_EQ(PeakBytes(options, {3, 50, 4, 10, 11, 1}), 50u);
}

TEST(RunOrdered, ItemsInFlightAreBounded) {
  PipelineOptions options = Threads(4);
  options.max_in_flight = 5;
  uint64_t consumed = 0;
  std::mutex mutex;
  uint64_t furthest = 0;
  const Status status = RunOrdered<int>(
      options, 300,
      [&](uint64_t index, int) -> Result<int> {
        std::lock_guard<std::mutex> lock(mutex);
        furthest = std::max(furthest, index);
        return 0;
      },
      [&](uint64_t, int) {
        std::lock_guard<std::mutex> lock(mutex);
        EXPECT_LT(furthest, consumed + 5);
        ++consumed;
        return OkStatus();
      });
  EXPECT_TRUE(status.ok());
}

TEST(RunOrdered, CancelCallbackEndsWithCancelled) {
  std::atomic<bool> cancel{false};
  PipelineOptions options = Threads(2);
  options.cancelled = [&] { return cancel.load(); };
  uint64_t consumed = 0;
  const Status status = RunOrdered<int>(
      options, 1000000, [](uint64_t, int) -> Result<int> { return 0; },
      [&](uint64_t index, int) {
        ++consumed;
        if (index == 20) cancel = true;
        return OkStatus();
      });
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_EQ(consumed, 21u);
}

TEST(RunOrdered, BadOptionsAreInvalidArgument) {
  auto run = [](int threads, int max_in_flight) {
    PipelineOptions options;
    options.threads = threads;
    options.max_in_flight = max_in_flight;
    return RunOrdered<int>(
               options, 1, [](uint64_t, int) -> Result<int> { return 0; },
               [](uint64_t, int) { return OkStatus(); })
        .code();
  };
  EXPECT_EQ(run(0, 0), StatusCode::kInvalidArgument);
  EXPECT_EQ(run(-1, 0), StatusCode::kInvalidArgument);
  EXPECT_EQ(run(100000, 0), StatusCode::kInvalidArgument);
  EXPECT_EQ(run(1, -1), StatusCode::kInvalidArgument);
  EXPECT_EQ(run(1, 1), StatusCode::kOk);
}

TEST(RunOrderedStream, ProducesUntilNulloptAndKeepsOrder) {
  int next = 0;
  std::vector<std::string> seen;
  const Status status = RunOrderedStream<std::unique_ptr<int>, std::string>(
      Threads(3),
      [&]() -> Result<std::optional<PipelineInput<std::unique_ptr<int>>>> {
        if (next == 100) return std::optional<PipelineInput<std::unique_ptr<int>>>();
        PipelineInput<std::unique_ptr<int>> input{std::make_unique<int>(next++), 8};
        return std::optional<PipelineInput<std::unique_ptr<int>>>(std::move(input));
      },
      [](std::unique_ptr<int> input, int) -> Result<std::string> { return std::to_string(*input); },
      [&](std::string output) {
        seen.push_back(std::move(output));
        return OkStatus();
      });
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(seen.size(), 100u);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(seen[i], std::to_string(i));
}

TEST(RunOrderedStream, ProducerErrorComesAfterTheItemsBeforeIt) {
  int next = 0;
  int consumed = 0;
  const Status status = RunOrderedStream<int, int>(
      Threads(2),
      [&]() -> Result<std::optional<PipelineInput<int>>> {
        if (next == 9) return DataLossError("cut after 9");
        return std::optional<PipelineInput<int>>({next++, 0});
      },
      [](int input, int) -> Result<int> { return input; },
      [&](int) {
        ++consumed;
        return OkStatus();
      });
  EXPECT_EQ(status.ToString(), "DataLoss: cut after 9");
  EXPECT_EQ(consumed, 9);
}

OrderedPipeline::Produce ItemsOf(uint64_t count, Size size) {
  return [=](const Item& item) -> Result<std::optional<Size>> {
    if (item.index == count) return std::optional<Size>();
    return std::optional<Size>(size);
  };
}

TEST(OrderedPipeline, EveryPartRunsExactlyOnce) {
  constexpr uint32_t kParts = 7;
  std::vector<std::atomic<int>> runs(60 * kParts);
  PipelineOptions options = Threads(4);
  options.max_in_flight = 3;
  auto pipeline = OrderedPipeline::Start(options, ItemsOf(60, {1, kParts}),
                                         [&](const Item& item, uint32_t part, int) {
                                           ++runs[item.index * kParts + part];
                                           return OkStatus();
                                         });
  ASSERT_TRUE(pipeline.ok());
  for (uint64_t i = 0; i < 60; ++i) {
    auto item = (*pipeline)->Take();
    ASSERT_TRUE(item.ok() && item->has_value());
    ASSERT_EQ((*item)->index, i);
    for (uint32_t part = 0; part < kParts; ++part) ASSERT_EQ(runs[i * kParts + part], 1);
    (*pipeline)->Release((*item)->slot);
  }
  auto end = (*pipeline)->Take();
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->has_value());
}

TEST(OrderedPipeline, ErrorOfTheLowestPartWinsAndSticks) {
  for (uint32_t repeat = 0; repeat < 50; ++repeat) {
    // Parts 3 and 4 are begun, one on each thread; then one fails, and a little later the other.
    const uint32_t last_to_fail = 3 + repeat % 2;
    std::atomic<int> begun{0};
    std::atomic<bool> one_failed{false};
    auto work = [&](const Item& item, uint32_t part, int) {
      if (item.index != 2 || part < 3) return OkStatus();
      ++begun;
      while (begun < 2) std::this_thread::yield();
      while (part == last_to_fail && !one_failed) std::this_thread::yield();
      for (int i = 0; part == last_to_fail && i < 20; ++i) Spin(4999);
      one_failed = true;
      return DataLossError("part " + std::to_string(part));
    };
    auto pipeline = OrderedPipeline::Start(Threads(2), ItemsOf(10, {0, 8}), work);
    ASSERT_TRUE(pipeline.ok());
    for (int i = 0; i < 2; ++i) {
      auto item = (*pipeline)->Take();
      ASSERT_TRUE(item.ok());
      (*pipeline)->Release((*item)->slot);
    }
    ASSERT_EQ((*pipeline)->Take().status().ToString(), "DataLoss: part 3");
    ASSERT_EQ((*pipeline)->Take().status().ToString(), "DataLoss: part 3");
  }
}

TEST(OrderedPipeline, NothingBehindAFailedItemIsBegun) {
  std::atomic<int> begun{0};
  PipelineOptions options = Threads(1);
  options.max_in_flight = 64;
  auto pipeline =
      OrderedPipeline::Start(options, ItemsOf(64, {}), [&](const Item& item, uint32_t, int) {
        ++begun;
        Spin(4999);
        return item.index == 3 ? IoError("disk gone") : OkStatus();
      });
  ASSERT_TRUE(pipeline.ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE((*pipeline)->Take().ok());
  EXPECT_EQ((*pipeline)->Take().status().code(), StatusCode::kIo);
  pipeline->reset();
  EXPECT_EQ(begun, 4);
}

TEST(OrderedPipeline, TakingWhileHoldingEverySlotIsAnErrorThatPasses) {
  PipelineOptions options = Threads(2);
  options.max_in_flight = 2;
  auto pipeline = OrderedPipeline::Start(options, ItemsOf(5, {}),
                                         [](const Item&, uint32_t, int) { return OkStatus(); });
  ASSERT_TRUE(pipeline.ok());
  auto first = (*pipeline)->Take();
  auto second = (*pipeline)->Take();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ((*pipeline)->Take().status().code(), StatusCode::kInvalidArgument);
  (*pipeline)->Release((*second)->slot);  // out of order
  auto third = (*pipeline)->Take();
  ASSERT_TRUE(third.ok() && third->has_value());
  EXPECT_EQ((*third)->index, 2u);
}

TEST(OrderedPipeline, HoldingTheWholeByteBudgetIsAnErrorThatPasses) {
  PipelineOptions options = Threads(2);
  options.max_in_flight = 8;
  options.max_bytes = 10;
  auto pipeline = OrderedPipeline::Start(options, ItemsOf(5, {6, 1}),
                                         [](const Item&, uint32_t, int) { return OkStatus(); });
  ASSERT_TRUE(pipeline.ok());
  auto first = (*pipeline)->Take();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*pipeline)->Take().status().code(), StatusCode::kInvalidArgument);
  (*pipeline)->Release((*first)->slot);
  EXPECT_TRUE((*pipeline)->Take().ok());
}

TEST(OrderedPipeline, CancelFromAnotherThreadWakesTake) {
  std::mutex mutex;
  std::condition_variable changed;
  bool working = false;
  bool finish = false;
  auto pipeline =
      OrderedPipeline::Start(Threads(1), ItemsOf(5, {}), [&](const Item&, uint32_t, int) {
        std::unique_lock<std::mutex> lock(mutex);
        working = true;
        changed.notify_all();
        changed.wait(lock, [&] { return finish; });
        return OkStatus();
      });
  ASSERT_TRUE(pipeline.ok());
  std::thread canceller([&] {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return working; });
    (*pipeline)->Cancel();
  });
  EXPECT_EQ((*pipeline)->Take().status().code(), StatusCode::kCancelled);
  canceller.join();
  {
    std::lock_guard<std::mutex> lock(mutex);
    finish = true;
  }
  changed.notify_all();
}

TEST(OrderedPipeline, LeavingEarlyJoinsTheThreads) {
  std::atomic<int> running{0};
  for (int repeat = 0; repeat < 100; ++repeat) {
    auto pipeline =
        OrderedPipeline::Start(Threads(4), ItemsOf(1000, {}), [&](const Item& item, uint32_t, int) {
          ++running;
          Spin(item.index);
          --running;
          return OkStatus();
        });
    ASSERT_TRUE(pipeline.ok());
    for (int i = 0; i < repeat % 5; ++i) {
      auto item = (*pipeline)->Take();
      ASSERT_TRUE(item.ok());
      (*pipeline)->Release((*item)->slot);
    }
    pipeline->reset();
    ASSERT_EQ(running, 0);
  }
}

TEST(OrderedPipeline, ReleaseFromOtherThreadsIsSafe) {
  PipelineOptions options = Threads(2);
  options.max_in_flight = 4;
  auto pipeline = OrderedPipeline::Start(options, ItemsOf(2000, {}),
                                         [](const Item&, uint32_t, int) { return OkStatus(); });
  ASSERT_TRUE(pipeline.ok());
  std::mutex mutex;
  std::vector<int> held;
  bool done = false;
  std::thread releaser([&] {
    while (true) {
      std::vector<int> slots;
      {
        std::lock_guard<std::mutex> lock(mutex);
        if (done && held.empty()) return;
        slots.swap(held);
      }
      for (int slot : slots) (*pipeline)->Release(slot);
      std::this_thread::yield();
    }
  });
  uint64_t taken = 0;
  while (true) {
    auto item = (*pipeline)->Take();
    if (!item.ok()) {
      ASSERT_EQ(item.status().code(), StatusCode::kInvalidArgument);
      std::this_thread::yield();
      continue;
    }
    if (!item->has_value()) break;
    ASSERT_EQ((*item)->index, taken++);
    std::lock_guard<std::mutex> lock(mutex);
    held.push_back((*item)->slot);
  }
  EXPECT_EQ(taken, 2000u);
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  releaser.join();
}

}  // namespace
}  // namespace shardmill
