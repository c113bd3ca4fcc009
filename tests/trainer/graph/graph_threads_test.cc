// What may and what may not depend on threads. Runs on two of them.
#include <gtest/gtest.h>
#include <omp.h>

#include <memory>
#include <vector>

#include "tests/trainer/ops/op_runner.h"
#include "tests/trainer/random_tensor.h"
#include "tests/trainer/small_training.h"

namespace shardmill {
namespace {

TEST(Graph, TwoRunsGiveTheSameBits) {
  const Samples samples({2, 32, 40, 3});
  std::vector<std::vector<float>> runs;
  for (int run = 0; run < 2; ++run) {
    const auto ops = CpuOps();
    const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
    for (int step = 0; step < 3; ++step) {
      StepLoss(graph.get(), samples);
      PlainStep(graph.get(), 0.1f);
    }
    const float* values = graph->parameters().values();
    runs.emplace_back(values, values + graph->parameters().parameter_elements());
  }
  EXPECT_EQ(runs[0], runs[1]);
}

// Of a plan for fewer threads the workspace has no place for what each thread writes.
TEST(Graph, PlansForOneThreadAreNotRunOnSeveral) {
  const Samples samples({1, 32, 40, 3});
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  const auto bytes = [&] { return *graph->ArenaBytesFor(samples.shape, Phase::kTraining); };
  omp_set_num_threads(1);
  const double expected = StepLoss(graph.get(), samples);
  const int64_t for_one = graph->arena_bytes();
  EXPECT_EQ(for_one, bytes());
  omp_set_num_threads(4);
  EXPECT_GT(bytes(), for_one);
  EXPECT_NEAR(StepLoss(graph.get(), samples), expected, 1e-5);
  EXPECT_EQ(graph->arena_bytes(), bytes());
  omp_set_num_threads(2);
}

// All tensors that own operations made, on a given number of threads.
std::vector<Floats> OwnOperations(int threads) {
  omp_set_num_threads(threads);
  OpRunner runner(CpuOps());
  const Shape shape = {3, 61, 47, 7};
  const Floats x = RandomTensor<float>(shape.Elements(), 1, "x");
  const Floats dy = RandomTensor<float>(shape.Elements(), 1, "dy");
  const Floats scale = RandomTensor<float>(shape.c, 1, "scale");
  const auto norm = runner.BatchNorm(shape, Activation::kRelu, x, scale, scale, dy);
  const auto labels = RandomIntegers<uint8_t>(shape.Pixels(), shape.c, 1, "labels");
  LossCall call;
  call.shape.logits = shape;
  call.labels = labels.data();
  const auto loss = runner.Loss(call, x);
  const float sums[] = {static_cast<float>(loss.loss_sum), static_cast<float>(loss.weight_sum)};
  return {norm.mean,   norm.variance, norm.y,       norm.dx,
          norm.dscale, norm.dshift,   loss.dlogits, Floats(sums, sums + 2)};
}

TEST(OnednnOps, OwnOperationsGiveTheSameBitsOnAnyNumberOfThreads) {
  const std::vector<Floats> one = OwnOperations(1);
  EXPECT_EQ(OwnOperations(2), one);
  EXPECT_EQ(OwnOperations(3), one);
}

}  // namespace
}  // namespace shardmill
