// The search for a batch, and the batch of a run on a simulated GPU with little memory.
#include "trainer/training/auto_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/trainer/shape_dataset.h"
#include "trainer/comm/self_communicator.h"
#include "trainer/cuda/ops/device_op_table.h"
#include "trainer/cuda/runtime/recording_runtime.h"
#include "trainer/data/data_feed.h"
#include "trainer/training/create_step_engine.h"
#include "trainer/training/step_memory_of.h"

namespace shardmill {
namespace {

TEST(LargestThatFits, FindsTheEdgeWithFewQuestions) {
  for (int64_t edge = 0; edge <= 70; ++edge) {
    std::vector<int64_t> asked;
    const auto found = LargestThatFits(64, [&](int64_t count) -> Result<bool> {
      asked.push_back(count);
      return count <= edge;
    });
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, std::min<int64_t>(edge, 64));
    EXPECT_LE(asked.size(), 14u) << edge;
    for (const int64_t count : asked) EXPECT_LE(count, std::max<int64_t>(2 * edge, 1)) << edge;
  }
}

TEST(LargestThatFits, ErrorEndsTheSearch) {
  const auto found = LargestThatFits(64, [](int64_t count) -> Result<bool> {
    if (count < 4) return true;
    return UnavailableError("the device is lost");
  });
  EXPECT_EQ(found.status().message(), "the device is lost");
}

TEST(FitsBesideReserve, TensorsThatNoPlanIsForDoNotFit) {
  StepMemory memory;
  memory.arena = 100;
  memory.reserve = 20;
  EXPECT_TRUE(*FitsBesideReserve(memory, 120));
  EXPECT_FALSE(*FitsBesideReserve(memory, 119));
  EXPECT_FALSE(*FitsBesideReserve(InvalidArgumentError("cuDNN has no plan"), 1000));
  EXPECT_EQ(FitsBesideReserve(UnavailableError("the device is lost"), 1000).status().message(),
            "the device is lost");
}

TEST(SmallestOf, IsThatOfTheTightestRank) {
  EXPECT_EQ(*SmallestOf({"12", "9", "30"}), 9);
  EXPECT_EQ(*SmallestOf({"7"}), 7);
  for (const char* const text : {"", "x", "3x", "0", "-1"}) {
    EXPECT_EQ(SmallestOf({"12", text}).status().code(), StatusCode::kInternal) << text;
  }
}

TrainRequest Request(Communicator* ranks, const std::string& device) {
  static const std::string dataset = WriteShapeDataset("auto_batch", {});
  TrainRequest request;
  request.given.set_dataset(dataset);
  request.given.set_device(device);
  request.given.set_model("unet");
  request.given.set_width(2);
  request.given.set_depth(1);
  request.given.set_output(testing::TempDir() + "/auto_batch_run");
  request.communicator = ranks;
  request.measure_only = true;
  return request;
}

TEST(LargestOfThisRank, FillsWhatIsFreeAndNotMore) {
  const auto self = CreateSelfCommunicator();
  auto setup = PrepareTraining(Request(self.get(), "cuda-host"));
  ASSERT_TRUE(setup.ok()) << setup.status().ToString();
  auto* const runtime = static_cast<RecordingRuntime*>(setup->device.device_ops->runtime());
  EXPECT_EQ(*LargestOfThisRank(*setup), 24);  // all records
  const int64_t used = (int64_t{1} << 40) - *runtime->FreeBytes();
  for (const int64_t batch : {1, 3, 10}) {
    const auto memory = StepMemoryOf(*setup, batch);
    ASSERT_TRUE(memory.ok());
    EXPECT_GE(memory->reserve, kCodeReserve);
    runtime->set_device_bytes(used + memory->ToAllocate() + memory->reserve);
    EXPECT_EQ(*LargestOfThisRank(*setup), batch);
    // A batch that is asked for may take what is kept.
    runtime->set_device_bytes(used + memory->ToAllocate());
    EXPECT_TRUE(CheckStepFits(*setup, batch).ok());
    EXPECT_FALSE(CheckStepFits(*setup, batch + 1).ok());
  }
  runtime->set_device_bytes(used + 1000);
  const Status status = LargestOfThisRank(*setup).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("out of GPU memory"), std::string::npos) << status.message();
}

// Each pass is as large as the largest batch without passes, or nearly: what all of them share is
// in memory once more.
TEST(LargestOfThisRank, PassesMakeRoomForLargerBatches) {
  const auto self = CreateSelfCommunicator();
  TrainRequest request = Request(self.get(), "cuda-host");
  request.given.set_accumulate(3);
  auto setup = PrepareTraining(request);
  ASSERT_TRUE(setup.ok()) << setup.status().ToString();
  auto* const runtime = static_cast<RecordingRuntime*>(setup->device.device_ops->runtime());
  const int64_t used = (int64_t{1} << 40) - *runtime->FreeBytes();
  const auto memory = StepMemoryOf(*setup, 12);
  ASSERT_TRUE(memory.ok());
  runtime->set_device_bytes(used + memory->ToAllocate() + memory->reserve);
  EXPECT_EQ(*LargestOfThisRank(*setup), 4);  // times three
}

TEST(LargestOfThisRank, WhatOnlyTheReserveWouldHoldIsNotChosen) {
  const auto self = CreateSelfCommunicator();
  auto setup = PrepareTraining(Request(self.get(), "cuda-host"));
  ASSERT_TRUE(setup.ok()) << setup.status().ToString();
  auto* const runtime = static_cast<RecordingRuntime*>(setup->device.device_ops->runtime());
  const int64_t used = (int64_t{1} << 40) - *runtime->FreeBytes();
  const auto memory = StepMemoryOf(*setup, 1);
  ASSERT_TRUE(memory.ok());
  runtime->set_device_bytes(used + memory->ToAllocate() + memory->reserve - 1);
  const Status status = LargestOfThisRank(*setup).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("it may fit if you ask for it"), std::string::npos);
}

// The feed knows no more than that it got none.
TEST(StepEngine, MemoryThatCannotBePinnedIsToldInTheWordsOfTheDevice) {
  const auto self = CreateSelfCommunicator();
  TrainRequest request = Request(self.get(), "cuda-host");
  request.given.set_batch(4);
  auto setup = PrepareTraining(request);
  ASSERT_TRUE(setup.ok()) << setup.status().ToString();
  auto engine = CreateStepEngine(&*setup, [](const StepReport&) { return OkStatus(); });
  ASSERT_TRUE(engine.ok()) << engine.status().ToString();
  auto* const runtime = static_cast<RecordingRuntime*>(setup->device.device_ops->runtime());
  runtime->set_refuse_pinned(true);
  TrainingFeedOptions options;
  options.split = "train";
  options.batch = 4;
  (*engine)->ShapeFeed(&options);
  EXPECT_TRUE((*engine)->feed_failure().ok());
  EXPECT_FALSE(DataFeed::OpenTraining(setup->dataset, setup->task, options).ok());
  const Status failure = (*engine)->feed_failure();
  EXPECT_EQ(failure.code(), StatusCode::kUnavailable);
  EXPECT_NE(failure.message().find("no memory can be pinned"), std::string::npos)
      << failure.message();
}

TEST(EvaluationBatch, IsThatOfAPass) {
  EXPECT_EQ(EvaluationBatch(16, 1), 16);
  EXPECT_EQ(EvaluationBatch(16, 4), 4);
  EXPECT_EQ(EvaluationBatch(7, 2), 3);
  EXPECT_EQ(EvaluationBatch(2, 3), 1);
}

TEST(ChooseBatch, ChoosesTheSameEachTimeAndLeavesNothing) {
  const auto self = CreateSelfCommunicator();
  const TrainRequest request = Request(self.get(), "cuda-host");
  for (int i = 0; i < 2; ++i) {
    const auto choice = ChooseBatch(request);
    ASSERT_TRUE(choice.ok()) << choice.status().ToString();
    EXPECT_EQ(choice->batch, 24);
    EXPECT_NE(choice->text.find("arena"), std::string::npos) << choice->text;
  }
}

TEST(ChooseBatch, CpuIsAUsageError) {
  const auto self = CreateSelfCommunicator();
  EXPECT_EQ(ChooseBatch(Request(self.get(), "cpu")).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
