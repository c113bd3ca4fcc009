#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "reader/base/ordered_pipeline.h"

namespace shardmill {
namespace {

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

// Batches that divide the items, that do not, and one that holds them all.
TEST(RunOrdered, BatchesChangeNeitherTheOrderNorWhichErrorIsTold) {
  for (const uint64_t batch : {2, 5, 7, 64}) {
    for (const uint64_t failing : {0, 13, 14, 40}) {
      PipelineOptions options = Threads(3);
      options.batch = batch;
      uint64_t seen = 0;
      const Status status = RunOrdered<uint64_t>(
          options, 40,
          [&](uint64_t index, int) -> Result<uint64_t> {
            Spin(index);
            if (index >= failing) return DataLossError("item " + std::to_string(index));
            return index * index;
          },
          [&](uint64_t index, uint64_t output) {
            EXPECT_EQ(output, index * index);
            EXPECT_EQ(index, seen++);
            return OkStatus();
          });
      EXPECT_EQ(status.ToString(), failing == 40 ? OkStatus().ToString()
                                                 : "DataLoss: item " + std::to_string(failing));
      ASSERT_EQ(seen, failing);
    }
  }
}

TEST(RunOrdered, ExceptionInABatchComesBehindTheItemsBeforeIt) {
  PipelineOptions options = Threads(2);
  options.batch = 8;
  uint64_t consumed = 0;
  const Status status = RunOrdered<int>(
      options, 20,
      [](uint64_t index, int) -> Result<int> {
        return index == 11 ? throw std::runtime_error("thrown at 11") : 0;
      },
      [&](uint64_t, int) { return ++consumed, OkStatus(); });
  EXPECT_EQ(status.message(), "in a pipeline stage: unexpected exception: thrown at 11");
  EXPECT_EQ(consumed, 11u);
}

}  // namespace
}  // namespace shardmill
