// That a graph learns: the whole chain from pixels to updated weights is right.
#include <gtest/gtest.h>

#include <vector>

#include "tests/trainer/small_training.h"

namespace shardmill {
namespace {

TEST(Learning, FourImagesAreOverfitted) {
  // Images whose pixels tell the class only together with their neighbours: stripes and noise.
  const Shape shape = {4, 32, 32, 3};
  Samples samples(shape);
  for (int64_t p = 0; p < shape.Pixels(); ++p) {
    const int64_t x = p % 32, y = p / 32 % 32, n = p / 1024;
    const int64_t label = (x / 8 + y / 8 * 2 + n) % kClasses;
    samples.classes[p] = static_cast<uint8_t>(label);
    for (int64_t c = 0; c < 3; ++c) {
      const int64_t noise = samples.pixels[p * 3 + c] % 40;
      samples.pixels[p * 3 + c] =
          static_cast<uint8_t>(noise + (label * (c + 2) * 37 + (x % 3) * 20) % 200);
    }
  }
  const auto ops = CpuOps();
  const auto graph = MakeGraph(SmallUnet(), ops.get(), PixelOptions());
  for (int step = 0; step < 150; ++step) {
    StepLoss(graph.get(), samples);
    PlainStep(graph.get(), 0.2f);
  }
  ASSERT_TRUE(graph->Forward(samples.images(), Phase::kTraining).ok());
  std::vector<uint8_t> predicted(samples.classes.size());
  ASSERT_TRUE(graph->Predict(LabelType::kIndexU8, predicted.data()).ok());
  int64_t right = 0;
  for (size_t p = 0; p < predicted.size(); ++p) right += predicted[p] == samples.classes[p];
  EXPECT_GT(static_cast<double>(right) / predicted.size(), 0.99);
}

}  // namespace
}  // namespace shardmill
