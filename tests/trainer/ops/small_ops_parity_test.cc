// Activations, dropout, average pooling, unpooling, upsampling and the operations on sequences of
// a backend against the reference, and both against values that were worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "tests/trainer/ops/backend_pair.h"
#include "tests/trainer/random_tensor.h"
#include "tests/trainer/tensor_near.h"

namespace shardmill {
namespace {

const GradientMode kModes[] = {GradientMode::kOverwrite, GradientMode::kAdd};

// Calls `body` with each backend; it returns tensors, which must agree.
void ExpectParity(double tolerance,
                  const std::function<std::vector<Floats>(OpTable& ops, Stream& stream)>& body) {
  BackendPair backends;
  const auto expected = body(backends.reference.ops(), backends.reference.stream());
  const auto actual = body(backends.candidate.ops(), backends.candidate.stream());
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_TRUE(TensorNear(actual[i], expected[i], tolerance)) << "tensor " << i;
  }
}

void Succeed(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }

TEST(ActivationParity, AgreesWithReference) {
  for (const Activation activation : {Activation::kNone, Activation::kRelu, Activation::kRelu6}) {
    for (const int64_t size : {1, 17, 100003}) {
      Floats x = RandomTensor<float>(size, 1, "x");
      for (float& value : x) value *= 5;
      const Floats dy = RandomTensor<float>(size, 1, "dy");
      ExpectParity(0, [&](OpTable& ops, Stream& stream) -> std::vector<Floats> {
        Floats y(size), dx(size);
        Succeed(ops.ActivationForward(stream, activation, size, x.data(), y.data()));
        Succeed(ops.ActivationBackward(stream, activation, size, y.data(), dy.data(), dx.data()));
        return {y, dx};
      });
    }
  }
}

TEST(ActivationParity, Relu6HoldsValuesBetweenZeroAndSix) {
  const Floats x = {-1, 0, 3, 6, 7}, dy = {1, 2, 3, 4, 5};
  BackendPair backends;
  for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
    Floats y(5), dx(5);
    Succeed(runner->ops().ActivationForward(runner->stream(), Activation::kRelu6, 5, x.data(),
                                            y.data()));
    Succeed(runner->ops().ActivationBackward(runner->stream(), Activation::kRelu6, 5, y.data(),
                                             dy.data(), dx.data()));
    EXPECT_EQ(y, (Floats{0, 0, 3, 6, 6}));
    EXPECT_EQ(dx, (Floats{0, 0, 3, 0, 0}));
  }
}

TEST(PreluParity, AgreesWithReference) {
  for (const Shape& shape : {Shape{2, 5, 7, 3}, Shape{1, 1, 1, 1}, Shape{3, 33, 29, 16}}) {
    const Floats x = RandomTensor<float>(shape.Elements(), 1, "x");
    const Floats dy = RandomTensor<float>(shape.Elements(), 1, "dy");
    const Floats slopes = RandomTensor<float>(shape.c, 1, "slopes");
    // The slopes' gradients are sums over all pixels.
    ExpectParity(2e-5, [&](OpTable& ops, Stream& stream) -> std::vector<Floats> {
      Floats y(x.size()), dx = dy, dslopes(shape.c), only_slopes(shape.c);
      std::vector<double> workspace(ops.PreluWorkspaceBytes(shape) / 8 + 1);
      Succeed(ops.PreluForward(stream, shape, x.data(), slopes.data(), y.data()));
      Succeed(ops.PreluBackward(stream, shape, x.data(), slopes.data(), dx.data(), dx.data(),
                                dslopes.data(), workspace.data()));
      Succeed(ops.PreluBackward(stream, shape, x.data(), slopes.data(), dy.data(), nullptr,
                                only_slopes.data(), workspace.data()));
      return {y, dx, dslopes, only_slopes};
    });
  }
}

TEST(DropoutParity, DropsTheSameAsReference) {
  const Shape shape = {3, 9, 11, 130};
  const Floats x = RandomTensor<float>(shape.Elements(), 1, "x");
  for (const bool whole_channels : {false, true}) {
    for (const double drop : {0.0, 0.1, 0.9}) {
      const DropoutCall call = {shape, 77, 5, drop, whole_channels};
      ExpectParity(kElementTolerance, [&](OpTable& ops, Stream& stream) -> std::vector<Floats> {
        Floats y(x.size());
        Succeed(ops.Dropout(stream, call, x.data(), y.data()));
        return {y};
      });
    }
  }
}

TEST(Dropout, ShareAndScaleAreThoseAskedFor) {
  BackendPair backends;
  const Shape shape = {4, 25, 25, 40};
  const Floats ones(shape.Elements(), 1.0f);
  for (const bool whole_channels : {false, true}) {
    Floats y(ones.size());
    Succeed(backends.candidate.ops().Dropout(
        backends.candidate.stream(), {shape, 3, 0, 0.2, whole_channels}, ones.data(), y.data()));
    double dropped = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      EXPECT_TRUE(y[i] == 0 || y[i] == 1.25f);
      dropped += y[i] == 0;
      if (whole_channels) {
        EXPECT_EQ(y[i], y[i / 25000 * 25000 + i % 40]);
      }
    }
    // 100,000 elements, or 160 channels: within five deviations.
    EXPECT_NEAR(dropped / static_cast<double>(y.size()), 0.2, whole_channels ? 0.16 : 0.0064);
  }
}

// The parts of a batch drop what the whole batch drops.
TEST(Dropout, DependsOnTheRowOfTheGlobalBatchAndOnTheKey) {
  BackendPair backends;
  OpRunner& runner = backends.candidate;
  const Shape whole = {5, 6, 7, 8}, part = {2, 6, 7, 8};
  const Floats ones(whole.Elements(), 1.0f);
  for (const bool whole_channels : {false, true}) {
    Floats all(whole.Elements()), some(part.Elements()), other(whole.Elements());
    Succeed(runner.ops().Dropout(runner.stream(), {whole, 3, 10, 0.5, whole_channels}, ones.data(),
                                 all.data()));
    Succeed(runner.ops().Dropout(runner.stream(), {part, 3, 12, 0.5, whole_channels}, ones.data(),
                                 some.data()));
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + 2 * 6 * 7 * 8));
    Succeed(runner.ops().Dropout(runner.stream(), {whole, 4, 10, 0.5, whole_channels}, ones.data(),
                                 other.data()));
    EXPECT_NE(other, all);
  }
}

const PoolShape kPools[] = {
    {{2, 8, 12, 8}, SquareWindow(2, 2, 0)}, {{2, 9, 11, 3}, SquareWindow(2, 2, 0)},
    {{3, 9, 8, 5}, SquareWindow(3, 2, 1)},  {{1, 11, 10, 45}, SquareWindow(2, 3, 0)},
    {{1, 5, 6, 4}, SquareWindow(3, 1, 1)},  {{2, 3, 4, 2}, {3, 4, 1, 1, 0, 0, 0, 0, 1, 1}},
    {{1, 1, 1, 1}, SquareWindow(1, 1, 0)},
};

TEST(AveragePoolParity, AgreesWithReference) {
  for (const PoolShape& shape : kPools) {
    const Floats x = RandomTensor<float>(shape.input.Elements(), 1, "x");
    const Floats dy = RandomTensor<float>(shape.Output().Elements(), 1, "dy");
    for (const GradientMode mode : kModes) {
      ExpectParity(kElementTolerance, [&](OpTable& ops, Stream& stream) -> std::vector<Floats> {
        Floats y(dy.size()), dx = x;
        Succeed(ops.AveragePoolForward(stream, shape, x.data(), y.data()));
        Succeed(ops.AveragePoolBackward(stream, shape, dy.data(), mode, dx.data()));
        return {y, dx};
      });
    }
  }
}

TEST(AveragePoolParity, PaddingIsNotCounted) {
  BackendPair backends;
  const PoolShape shape = {{1, 2, 2, 1}, SquareWindow(3, 2, 1)};
  const Floats x = {1, 2, 3, 6};
  for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
    Floats y(1);
    Succeed(runner->ops().AveragePoolForward(runner->stream(), shape, x.data(), y.data()));
    EXPECT_EQ(y, Floats{3});
  }
}

TEST(MaxUnpoolParity, AgreesWithReferenceAndUndoesPooling) {
  for (const PoolShape& shape : kPools) {
    if (shape.window.stride_h < shape.window.kernel_h) continue;
    const Floats x = RandomTensor<float>(shape.input.Elements(), 1, "x");
    const Floats before = RandomTensor<float>(shape.Output().Elements(), 1, "before");
    for (const GradientMode mode : kModes) {
      ExpectParity(0, [&](OpTable& ops, Stream& stream) -> std::vector<Floats> {
        Floats y(before.size()), spread(x.size()), gathered = before;
        std::vector<uint8_t> indices(before.size());
        Succeed(ops.MaxPoolForward(stream, shape, x.data(), y.data(), indices.data()));
        Succeed(ops.MaxPoolBackward(stream, shape, y.data(), indices.data(),
                                    GradientMode::kOverwrite, spread.data()));
        Succeed(
            ops.MaxPoolGather(stream, shape, spread.data(), indices.data(), mode, gathered.data()));
        if (mode == GradientMode::kOverwrite) {
          EXPECT_EQ(gathered, y);
        }
        return {spread, gathered};
      });
    }
  }
}

TEST(UpsampleParity, AgreesWithReference) {
  for (const UpsampleMode upsample : {UpsampleMode::kNearest, UpsampleMode::kBilinear}) {
    for (const UpsampleShape& shape :
         {UpsampleShape{{2, 5, 7, 3}, 2, 2, upsample}, UpsampleShape{{1, 1, 1, 1}, 4, 3, upsample},
          UpsampleShape{{1, 3, 4, 17}, 1, 8, upsample}}) {
      const Floats x = RandomTensor<float>(shape.input.Elements(), 1, "x");
      const Floats dy = RandomTensor<float>(shape.Output().Elements(), 1, "dy");
      for (const GradientMode mode : kModes) {
        ExpectParity(1e-5, [&](OpTable& ops, Stream& stream) -> std::vector<Floats> {
          Floats y(dy.size()), dx = x;
          Succeed(ops.UpsampleForward(stream, shape, x.data(), y.data()));
          Succeed(ops.UpsampleBackward(stream, shape, dy.data(), mode, dx.data()));
          return {y, dx};
        });
      }
    }
  }
}

// As PyTorch's interpolate with align_corners=False.
TEST(UpsampleParity, PixelCentresLieAtAHalf) {
  BackendPair backends;
  const Floats x = {0, 4, 8};
  for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
    Floats linear(6), nearest(6);
    Succeed(runner->ops().UpsampleForward(
        runner->stream(), {{1, 1, 3, 1}, 1, 2, UpsampleMode::kBilinear}, x.data(), linear.data()));
    Succeed(runner->ops().UpsampleForward(
        runner->stream(), {{1, 1, 3, 1}, 1, 2, UpsampleMode::kNearest}, x.data(), nearest.data()));
    EXPECT_EQ(linear, (Floats{0, 1, 3, 5, 7, 8}));
    EXPECT_EQ(nearest, (Floats{0, 0, 4, 4, 8, 8}));
  }
}

TEST(StatisticsPoolParity, AgreesWithReference) {
  for (const Shape& shape : {Shape{3, 1, 9, 5}, Shape{2, 1, 40, 130}, Shape{1, 1, 1, 3}}) {
    const Floats x = RandomTensor<float>(shape.Elements(), 1, "x");
    const Floats dy = RandomTensor<float>(shape.n * 2 * shape.c, 1, "dy");
    std::vector<int32_t> lengths;
    for (int64_t n = 0; n < shape.n; ++n) {
      lengths.push_back(static_cast<int32_t>(shape.w - n * (shape.w / 4)));
    }
    for (const int32_t* given : std::vector<const int32_t*>{nullptr, lengths.data()}) {
      for (const GradientMode mode : kModes) {
        // A single frame has a deviation of 1e-4, which the gradient is divided by.
        ExpectParity(1e-4, [&](OpTable& ops, Stream& stream) -> std::vector<Floats> {
          Floats y(dy.size()), dx = x, zeroed = x;
          Succeed(ops.StatisticsPoolForward(stream, shape, given, x.data(), y.data()));
          Succeed(ops.StatisticsPoolBackward(stream, shape, given, x.data(), y.data(), dy.data(),
                                             mode, dx.data()));
          Succeed(ops.ZeroPadding(stream, shape, given, zeroed.data()));
          return {y, dx, zeroed};
        });
      }
    }
  }
}

TEST(StatisticsPoolParity, FramesBehindTheLengthDoNotCount) {
  BackendPair backends;
  const Floats x = {1, 3, 100, 2, 4, 6};
  const std::vector<int32_t> lengths = {2, 3};
  for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
    Floats y(4), zeroed = x;
    Succeed(runner->ops().StatisticsPoolForward(runner->stream(), {2, 1, 3, 1}, lengths.data(),
                                                x.data(), y.data()));
    EXPECT_TRUE(TensorNear(y, Floats{2, 1, 4, std::sqrt(8.0f / 3)}, 1e-6));
    Succeed(
        runner->ops().ZeroPadding(runner->stream(), {2, 1, 3, 1}, lengths.data(), zeroed.data()));
    EXPECT_EQ(zeroed, (Floats{1, 3, 0, 2, 4, 6}));
  }
}

}  // namespace
}  // namespace shardmill
