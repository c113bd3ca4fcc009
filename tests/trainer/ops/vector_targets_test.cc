// The vector kernels for every instruction set that this processor has, not just the one that it
// would choose.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <vector>

#include "tests/trainer/ops/backend_pair.h"
#include "tests/trainer/random_tensor.h"
#include "tests/trainer/tensor_near.h"

namespace shardmill {
namespace {

// Calls body(name) once per instruction set, with the kernels set to it.
template <typename Body>
void ForEachTarget(const Body& body) {
  int64_t targets = hwy::SupportedTargets();
  int tried = 0;
  for (; targets != 0; targets &= targets - 1) {
    const int64_t target = targets & -targets;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(0);
    ++tried;
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(tried, 1);
}

TEST(VectorTargets, BatchNormAgreesWithReference) {
  const Shape shapes[] = {{2, 9, 7, 3}, {1, 31, 33, 8}, {2, 5, 5, 37}};
  for (const Shape& shape : shapes) {
    const Floats x = RandomTensor<float>(shape.Elements(), 1, "x");
    const Floats dy = RandomTensor<float>(shape.Elements(), 1, "dy");
    const Floats scale = RandomTensor<float>(shape.c, 1, "scale");
    const Floats terms(shape.c, 1.0f + static_cast<float>(shape.Pixels()));
    BackendPair backends;
    const auto expected =
        backends.reference.BatchNorm(shape, Activation::kRelu, x, scale, scale, dy);
    ForEachTarget([&](const char* target) {
      const auto actual =
          backends.candidate.BatchNorm(shape, Activation::kRelu, x, scale, scale, dy);
      EXPECT_TRUE(TensorNear(actual.variance, expected.variance, kNormTolerance)) << target;
      EXPECT_TRUE(TensorNear(actual.y, expected.y, kNormTolerance)) << target;
      EXPECT_TRUE(SumsNear(actual.dscale, expected.dscale, terms, kSumTolerance)) << target;
      EXPECT_TRUE(TensorNear(actual.dx, expected.dx, kNormTolerance)) << target;
    });
  }
}

TEST(VectorTargets, LossAndArgmaxAgreeWithReference) {
  for (const int64_t classes : {2, 12, 16, 21, 150}) {
    const Shape shape = {2, 7, 9, classes};
    const Floats logits = RandomTensor<float>(shape.Elements(), 2, "logits");
    const auto labels = RandomIntegers<uint8_t>(shape.Pixels(), classes + 1, 2, "labels");
    LossCall call;
    call.shape = {shape, LabelType::kIndexU8, classes};
    call.labels = labels.data();
    BackendPair backends;
    const auto expected = backends.reference.Loss(call, logits);
    std::vector<uint16_t> best(shape.Pixels()), largest(shape.Pixels());
    ASSERT_TRUE(backends.reference.ops()
                    .Argmax(backends.reference.stream(), shape, logits.data(), LabelType::kIndexU16,
                            best.data())
                    .ok());
    ForEachTarget([&](const char* target) {
      const auto actual = backends.candidate.Loss(call, logits);
      EXPECT_NEAR(actual.loss_sum, expected.loss_sum, kSoftmaxTolerance * (1 + expected.loss_sum))
          << target;
      EXPECT_TRUE(TensorNear(actual.dlogits, expected.dlogits, kSoftmaxTolerance)) << target;
      ASSERT_TRUE(backends.candidate.ops()
                      .Argmax(backends.candidate.stream(), shape, logits.data(),
                              LabelType::kIndexU16, largest.data())
                      .ok());
      EXPECT_EQ(largest, best) << target;
    });
  }
}

TEST(VectorTargets, PoolingAndNormalisationAgreeWithReference) {
  const PoolShape pool = {{2, 9, 8, 29}, SquareWindow(3, 2, 1)};
  const Floats x = RandomIntegers<float>(pool.input.Elements(), 5, 3, "x");
  const Floats dy = RandomTensor<float>(pool.Output().Elements(), 3, "dy");
  const Shape images = {1, 33, 35, 3};
  const auto pixels = RandomIntegers<uint8_t>(images.Elements(), 256, 3, "pixels");
  const Floats mean = {120, 110, 100}, factor = {0.01f, 0.02f, 0.03f};
  BackendPair backends;
  const auto expected = backends.reference.MaxPool(pool, x, dy, GradientMode::kAdd, x);
  Floats normalized(images.Elements()), y(images.Elements());
  ASSERT_TRUE(backends.reference.ops()
                  .NormalizeImages(backends.reference.stream(), images, ImageType::kU8,
                                   pixels.data(), mean.data(), factor.data(), normalized.data())
                  .ok());
  ForEachTarget([&](const char* target) {
    const auto actual = backends.candidate.MaxPool(pool, x, dy, GradientMode::kAdd, x);
    EXPECT_EQ(actual.indices, expected.indices) << target;
    EXPECT_TRUE(TensorNear(actual.dx, expected.dx, kElementTolerance)) << target;
    ASSERT_TRUE(backends.candidate.ops()
                    .NormalizeImages(backends.candidate.stream(), images, ImageType::kU8,
                                     pixels.data(), mean.data(), factor.data(), y.data())
                    .ok());
    EXPECT_TRUE(TensorNear(y, normalized, kElementTolerance)) << target;
  });
}

}  // namespace
}  // namespace shardmill
