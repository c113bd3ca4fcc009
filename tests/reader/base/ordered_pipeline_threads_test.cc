#include <gtest/gtest.h>

#include <optional>

#include "reader/base/ordered_pipeline.h"
#include "tests/reader/base/no_threads.h"

namespace shardmill {
namespace {

TEST(OrderedPipeline, ThreadThatCannotBeStartedIsIo) {
  const NoThreads no_threads;
  const auto pipeline = OrderedPipeline::Start(
      PipelineOptions(),
      [](const OrderedPipeline::Item&) { return std::optional<OrderedPipeline::Size>(); },
      [](const OrderedPipeline::Item&, uint32_t, int) { return OkStatus(); });
  EXPECT_EQ(pipeline.status().code(), StatusCode::kIo);
  EXPECT_EQ(ExitCode(pipeline.status()), 3);
}

}  // namespace
}  // namespace shardmill
