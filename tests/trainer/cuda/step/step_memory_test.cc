#include "trainer/cuda/step/step_memory.h"

#include <gtest/gtest.h>

#include "tests/trainer/small_training.h"
#include "trainer/cuda/ops/host_kernels.h"

namespace shardmill {
namespace {

StepMemoryRequest RequestOf(int64_t rows) {
  StepMemoryRequest request;
  request.images = {rows, 16, 24, 3};
  request.batch_bytes = request.images.Elements() + request.images.Pixels();
  return request;
}

TEST(StepMemory, NumbersAreThoseThatTheGraphAllocates) {
  const auto ops = CreateHostKernelOps(ElementType::kF32, KernelOrder::kAscending);
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  const auto memory = MeasureStep(graph.get(), RequestOf(4));
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(graph->arena_bytes(), 0);
  ASSERT_TRUE(graph->Prepare({4, 16, 24, 3}, Phase::kTraining).ok());
  EXPECT_EQ(memory->arena, graph->arena_bytes());
  const ParameterStore& store = graph->parameters();
  // AdamW has two moments.
  EXPECT_EQ(memory->optimizer, 2 * 4 * store.parameter_elements());
  EXPECT_EQ(memory->parameters, 4 * (2 * store.parameter_elements() + store.statistic_elements()));
  EXPECT_GE(memory->input, 2 * 4 * 16 * 24 * 4);
  EXPECT_EQ(memory->ToAllocate(), memory->arena + memory->optimizer + memory->input);
}

TEST(StepMemory, AverageAndBf16AreCounted) {
  const auto ops = CreateHostKernelOps(ElementType::kF32, KernelOrder::kAscending);
  const auto narrow_ops = CreateHostKernelOps(ElementType::kBf16, KernelOrder::kAscending);
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  const auto narrow = MakeGraph(SmallUnet(), narrow_ops.get(), PixelOptions());
  StepMemoryRequest request = RequestOf(4);
  const auto plain = MeasureStep(graph.get(), request);
  request.average = true;
  const auto averaged = MeasureStep(graph.get(), request);
  const auto halves = MeasureStep(narrow.get(), request);
  ASSERT_TRUE(plain.ok() && averaged.ok() && halves.ok());
  const ParameterStore& store = graph->parameters();
  EXPECT_EQ(averaged->optimizer - plain->optimizer,
            4 * (store.parameter_elements() + store.statistic_elements()));
  EXPECT_LT(halves->arena, averaged->arena * 3 / 4);
  EXPECT_EQ(halves->parameters - averaged->parameters, 2 * store.parameter_elements());
}

TEST(StepMemory, LargerBatchNeedsMoreAndWhatDoesNotFitSaysTheNumbers) {
  const auto ops = CreateHostKernelOps(ElementType::kF32, KernelOrder::kAscending);
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  int64_t last = 0;
  for (const int64_t rows : {1, 2, 3, 8}) {
    const auto memory = MeasureStep(graph.get(), RequestOf(rows));
    ASSERT_TRUE(memory.ok());
    EXPECT_GT(memory->ToAllocate(), last);
    last = memory->ToAllocate();
    EXPECT_TRUE(CheckFits(*memory, rows, last).ok());
    const Status status = CheckFits(*memory, rows, last - 1);
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_NE(status.message().find("a batch of " + std::to_string(rows)), std::string::npos);
    EXPECT_NE(status.message().find("arena"), std::string::npos);
    EXPECT_NE(status.message().find("--batch"), std::string::npos);
  }
}

}  // namespace
}  // namespace shardmill
