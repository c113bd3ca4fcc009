#include "trainer/cuda/step/step_memory.h"

#include <gtest/gtest.h>

#include "tests/trainer/small_training.h"
#include "trainer/cuda/ops/host_kernels.h"

namespace shardmill {
namespace {

StepMemoryRequest RequestOf(int64_t rows) {
  StepMemoryRequest request;
  request.images = {1, 16, 24, 3};
  request.rows = rows;
  request.label_bytes = request.images.Pixels();
  request.row_bytes = request.images.Elements() + request.label_bytes;
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
  EXPECT_GE(memory->input, 2 * 4 * 16 * 24 * 4 + 4 * 16 * 24);
  EXPECT_EQ(memory->evaluation, 0);
  EXPECT_EQ(memory->ToAllocate(), memory->arena + memory->optimizer + memory->input);
}

// Of several passes the activations are those of the larger ones, the batch comes as a whole, and
// the gradients of the passes before are kept.
TEST(StepMemory, PassesAreCountedAsTheyRun) {
  const auto ops = CreateHostKernelOps(ElementType::kF32, KernelOrder::kAscending);
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  StepMemoryRequest request = RequestOf(5);
  const auto whole = MeasureStep(graph.get(), request);
  request.passes = 2;
  const auto cut = MeasureStep(graph.get(), request);
  const auto three = MeasureStep(graph.get(), RequestOf(3));
  ASSERT_TRUE(whole.ok() && cut.ok() && three.ok());
  EXPECT_EQ(cut->arena, three->arena);
  EXPECT_EQ(whole->input - cut->input, 2 * request.label_bytes);
  EXPECT_EQ(cut->optimizer - whole->optimizer, 4 * graph->parameters().parameter_elements());
}

TEST(StepMemory, HardPixelsHaveAProbabilityEach) {
  const auto ops = CreateHostKernelOps(ElementType::kF32, KernelOrder::kAscending);
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  StepMemoryRequest request = RequestOf(4);
  request.passes = 2;
  const auto plain = MeasureStep(graph.get(), request);
  request.hard_pixels = true;
  const auto hard = MeasureStep(graph.get(), request);
  ASSERT_TRUE(plain.ok() && hard.ok());
  EXPECT_EQ(hard->ToAllocate() - plain->ToAllocate(), 2 * 16 * 24 * 4);
}

TEST(StepMemory, EvaluationIsCountedAndTheReserveIsNotAllocated) {
  const auto ops = CreateHostKernelOps(ElementType::kF32, KernelOrder::kAscending);
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  StepMemoryRequest request = RequestOf(2);
  const auto alone = MeasureStep(graph.get(), request);
  request.evaluation = {64, 16, 24, 3};
  request.evaluation_row_bytes = request.row_bytes;
  request.ranks = 2;
  const auto both = MeasureStep(graph.get(), request);
  ASSERT_TRUE(alone.ok() && both.ok());
  ASSERT_TRUE(graph->Prepare(request.evaluation, Phase::kEvaluation).ok());
  EXPECT_EQ(both->arena, graph->arena_bytes());
  EXPECT_GT(both->arena, alone->arena);
  // Images, labels, and predictions of two bytes.
  EXPECT_EQ(both->evaluation, 64 * 16 * 24 * (3 + 1 + 2));
  EXPECT_EQ(both->ToAllocate(), both->arena + both->optimizer + both->input + both->evaluation);
  EXPECT_EQ(alone->reserve, kCodeReserve);
  EXPECT_EQ(both->reserve, kCodeReserve + kRanksReserve);
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
