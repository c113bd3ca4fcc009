// Training on a device whose memory the host cannot touch and which runs nothing before it is
// waited for: the bits must be those of the same kernels on the host.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/trainer/cuda/device/deferred_backend.h"
#include "tests/trainer/cuda/device/training_outcome.h"
#include "tests/trainer/small_training.h"
#include "trainer/cuda/ops/host_kernels.h"
#include "trainer/models/model_catalog.h"

namespace shardmill {
namespace {

void ExpectSame(const Case& test, const ImageBatch& images, const LabelBatch& labels) {
  const auto host = CreateHostKernelOps(ElementType::kF32, KernelOrder::kAscending);
  const auto device = CreateDeferredOps();
  const Outcome expected = Train(test, host.get(), images, labels);
  const Outcome outcome = Train(test, device.get(), images, labels);
  EXPECT_NE(expected.losses.front(), expected.losses.back());
  EXPECT_EQ(outcome.losses, expected.losses);
  EXPECT_TRUE(outcome == expected);
}

TEST(DeviceMemory, SegmentationTrainsAsOnTheHost) {
  const Samples samples({2, 16, 24, 3});
  Case test = {SmallUnet(), PixelOptions(), {}, false};
  ExpectSame(test, samples.images(), samples.labels());
  test.shared = true;
  ExpectSame(test, samples.images(), samples.labels());
}

TEST(DeviceMemory, LossOptionsAndRowWeightsArriveOnTheDevice) {
  const Samples samples({2, 16, 24, 3});
  const float rows[] = {1, 0.5f};
  LabelBatch labels = samples.labels();
  labels.row_weights = rows;
  Case test = {SmallUnet(), PixelOptions(), {}, true};
  test.loss.class_weights = {1, 2, 0.5f, 1, 1.5f};
  test.loss.ignore = 3;
  test.loss.dice = 0.5;
  test.loss.label_smoothing = 0.1;
  test.loss.hard_probability = 0.7;
  ExpectSame(test, samples.images(), labels);
}

TEST(DeviceMemory, PaddedSequencesTrainAsOnTheHost) {
  const auto model = BuildModel(*FindModel("tdnn"), {6, 5, 8, 0});
  ASSERT_TRUE(model.ok());
  const Shape shape = {3, 1, 40, 6};
  const auto frames = RandomTensor<float>(shape.Elements(), 1, "frames");
  const int32_t lengths[] = {40, 25, 31};
  const uint8_t classes[] = {1, 4, 0};
  ImageBatch images = {frames.data(), ImageType::kF32, shape};
  images.lengths = lengths;
  const LabelBatch labels = {classes, LabelType::kIndexU8, 3};
  for (const bool shared : {false, true}) {
    GraphOptions options;
    options.seed = 1;
    ExpectSame({*model, options, {}, shared}, images, labels);
  }
}

// The guard itself.
TEST(DeviceMemoryDeathTest, HostThatTouchesDeviceMemoryDies) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto ops = CreateDeferredOps();
  void* const memory = *ops->Allocate(8);
  EXPECT_DEATH(*static_cast<volatile char*>(memory) = 1, "");
  ops->Free(memory);
}

}  // namespace
}  // namespace shardmill
