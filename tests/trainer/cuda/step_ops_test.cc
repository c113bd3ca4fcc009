// What a step does beside the op table, run on the host: against the optimizer, the metrics and
// the loader's arithmetic of the processor.
#include "trainer/cuda/ops/step_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "reader/color_change.h"
#include "tests/trainer/random_tensor.h"
#include "tests/trainer/tensor_near.h"
#include "trainer/cuda/ops/host_backend.h"
#include "trainer/cuda/ops/kernel_ops.h"
#include "trainer/evaluation/metrics.h"
#include "trainer/optimization/optimizer.h"

namespace shardmill {
namespace {

using Floats = std::vector<float>;

class StepOpsTest : public testing::Test {
 protected:
  KernelOps<HostKernelBackend> backend_{ElementType::kF32, KernelOrder::kDescending};
  StepOps<KernelOps<HostKernelBackend>> steps_{&backend_};
  std::unique_ptr<Stream> stream_ = std::move(backend_.CreateStream()).value();
};

OptimizerOptions Options(OptimizerKind kind, double momentum, bool nesterov) {
  OptimizerOptions options;
  options.kind = kind;
  options.momentum = momentum;
  options.nesterov = nesterov;
  options.weight_decay = 0.1;
  return options;
}

// Ranges that end within a group of four, and the last group is not whole.
TEST_F(StepOpsTest, UpdateHasTheBitsOfTheOptimizer) {
  constexpr int64_t kCount = 131;
  const std::vector<ParameterRange> ranges = {{0, 50, true}, {50, 61, false}, {61, kCount, true}};
  const std::vector<UpdateRange> device_ranges = {{50, true}, {61, false}, {kCount, true}};
  for (const OptimizerOptions& options :
       {Options(OptimizerKind::kSgd, 0, false), Options(OptimizerKind::kSgd, 0.9, false),
        Options(OptimizerKind::kSgd, 0.9, true), Options(OptimizerKind::kAdam, 0, false),
        Options(OptimizerKind::kAdamW, 0, false), Options(OptimizerKind::kRmsProp, 0, false)}) {
    auto optimizer = Optimizer::Create(options, ranges);
    ASSERT_TRUE(optimizer.ok());
    Floats expected = RandomTensor<float>(kCount, 1, "parameters"), actual = expected;
    std::vector<std::vector<float>> moments(2, Floats(kCount, 0.0f));
    std::vector<Bfloat16> narrow(kCount);
    const auto buffers = static_cast<int>(optimizer->moments().size());
    for (uint64_t step = 1; step <= 5; ++step) {
      const Floats gradients = RandomTensor<float>(kCount, step, "gradients");
      optimizer->Step(expected.data(), gradients.data(), 0.01, 0.5f);
      StepNumbers numbers;
      numbers.plain = FactorsOf(options, step, 0.01, 0, 0.5f);
      numbers.decayed = FactorsOf(options, step, 0.01, options.weight_decay, 0.5f);
      const UpdateBuffers state = {kCount,
                                   3,
                                   device_ranges.data(),
                                   actual.data(),
                                   gradients.data(),
                                   buffers > 0 ? moments[0].data() : nullptr,
                                   buffers > 1 ? moments[1].data() : nullptr,
                                   narrow.data()};
      ASSERT_TRUE(steps_.Update(*stream_, RuleOf(options), state, &numbers).ok());
      EXPECT_EQ(actual, expected);
      for (int i = 0; i < buffers; ++i) EXPECT_EQ(moments[i], optimizer->moments()[i]);
    }
    for (int64_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(ToFloat(narrow[i]), Rounded<Bfloat16>(expected[i]));
    }
  }
}

TEST_F(StepOpsTest, LongGradientsAreShortenedToTheLimit) {
  const Floats gradients = RandomTensor<float>(70001, 1, "gradients");
  double squares = 0;
  for (const float g : gradients) squares += static_cast<double>(g) * g;
  std::vector<double> workspace(StepOps<KernelOps<HostKernelBackend>>::NormWorkspaceBytes(70001) /
                                8);
  for (const double limit : {0.0, 10.0, 1e6}) {
    StepNumbers numbers;
    numbers.clip_norm = limit;
    double norm = 0;
    ASSERT_TRUE(
        steps_.GradientNorm(*stream_, 70001, gradients.data(), &norm, &numbers, workspace.data())
            .ok());
    EXPECT_NEAR(norm, std::sqrt(squares), 1e-9 * norm);
    const float scale = limit == 10 ? static_cast<float>(10 / norm) : 1.0f;
    EXPECT_EQ(numbers.plain.gradient_scale, scale);
    EXPECT_EQ(numbers.decayed.gradient_scale, scale);
  }
}

TEST_F(StepOpsTest, AverageMovesTowardsTheWeights) {
  const Floats values = {1, 2, 3, 4, 5, 6, 7};
  Floats average = {1, 1, 1, 1, 1, 1, 1};
  StepNumbers numbers;
  numbers.average_share = 0.25f;
  ASSERT_TRUE(steps_.MoveAverage(*stream_, 7, &numbers, values.data(), average.data()).ok());
  EXPECT_EQ(average, (Floats{1, 1.25f, 1.5f, 1.75f, 2, 2.25f, 2.5f}));
}

TEST_F(StepOpsTest, NarrowCopyIsTheRoundedWeights) {
  const Floats values = RandomTensor<float>(29, 1, "values");
  std::vector<Bfloat16> narrow(29);
  ASSERT_TRUE(steps_.Narrow(*stream_, 29, values.data(), narrow.data()).ok());
  for (size_t i = 0; i < 29; ++i) EXPECT_EQ(ToFloat(narrow[i]), Rounded<Bfloat16>(values[i]));
}

TEST_F(StepOpsTest, ConfusionCountsEqualTheMatrix) {
  constexpr int kClasses = 5;
  constexpr int64_t kPixels = 1003;
  auto labels = RandomIntegers<uint8_t>(kPixels, kClasses + 1, 1, "labels");
  const auto predicted = RandomIntegers<uint8_t>(kPixels, kClasses, 1, "predicted");
  std::replace(labels.begin(), labels.end(), uint8_t{kClasses}, uint8_t{255});
  ConfusionMatrix matrix(kClasses, 255);
  std::vector<uint64_t> numbers(ConfusionCounts::Elements(kClasses), 0);
  const ConfusionCounts counts = {kClasses, numbers.data()};
  for (int batch = 0; batch < 2; ++batch) {
    ASSERT_TRUE(matrix.Add(labels.data(), predicted.data(), kPixels).ok());
    ASSERT_TRUE(steps_
                    .CountConfusion(*stream_, LabelType::kIndexU8, kPixels, batch * kPixels, 255,
                                    labels.data(), predicted.data(), counts)
                    .ok());
  }
  EXPECT_TRUE(std::equal(matrix.counts().begin(), matrix.counts().end(), numbers.begin()));
  EXPECT_EQ(*counts.Ignored(), matrix.ignored());
  EXPECT_EQ(*counts.Wrong(), 0u);
}

TEST_F(StepOpsTest, ConfusionNamesTheFirstWrongLabel) {
  const std::vector<uint16_t> labels = {0, 1, 900, 1, 700}, predicted = {0, 0, 1, 1, 1};
  std::vector<uint64_t> numbers(ConfusionCounts::Elements(2), 0);
  const ConfusionCounts counts = {2, numbers.data()};
  ASSERT_TRUE(steps_
                  .CountConfusion(*stream_, LabelType::kIndexU16, 5, 100, -1, labels.data(),
                                  predicted.data(), counts)
                  .ok());
  EXPECT_EQ(~*counts.Wrong(), 102u);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{1, 0, 1, 1, 0, ~uint64_t{102}}));
}

template <typename T>
void ExpectBiasAndItsGradient(ElementType type, Activation activation) {
  KernelOps<HostKernelBackend> backend(type, KernelOrder::kDescending);
  const auto stream = std::move(backend.CreateStream()).value();
  for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{2, 9, 7, 5}, Shape{1, 40, 41, 16}}) {
    const Floats random = RandomTensor<float>(shape.Elements(), 1, "y");
    const Floats bias = RandomTensor<float>(shape.c, 1, "bias");
    std::vector<T> y(random.size());
    for (size_t i = 0; i < y.size(); ++i) Assign(random[i], &y[i]);
    const std::vector<T> before = y;
    Floats sums(shape.c);
    std::vector<double> workspace(FoldBytes<VectorFold, T>(shape) / 8);
    ASSERT_TRUE(SumChannels(backend, *stream, shape, y.data(), sums.data(), workspace.data()).ok());
    ASSERT_TRUE(AddBias(backend, *stream, shape, activation, bias.data(), y.data()).ok());
    for (int64_t c = 0; c < shape.c; ++c) {
      double sum = 0, size = 0;
      for (size_t i = c; i < y.size(); i += shape.c) {
        sum += ToFloat(before[i]);
        size += std::abs(ToFloat(before[i]));
        const float value = ToFloat(before[i]) + bias[c];
        EXPECT_EQ(ToFloat(y[i]),
                  Rounded<T>(activation == Activation::kNone ? value : std::max(value, 0.0f)));
      }
      EXPECT_NEAR(sums[c], sum, kSumTolerance * size);
    }
  }
}

TEST(ConvolutionBias, IsAddedAndItsGradientIsTheSum) {
  ExpectBiasAndItsGradient<float>(ElementType::kF32, Activation::kNone);
  ExpectBiasAndItsGradient<Bfloat16>(ElementType::kBf16, Activation::kRelu);
}

// A batch of three-channel images with labels, and what the input kernel makes of it.
struct InputBatch {
  InputBatch(int64_t height, int64_t width, int64_t channels)
      : pixels(RandomIntegers<uint8_t>(2 * 5 * 7 * 3, 256, 1, "pixels")),
        labels(RandomIntegers<uint8_t>(2 * 5 * 7, 4, 1, "labels")),
        rows(2),
        sums(2, 99),
        y(2 * height * width * channels, 77.0f),
        moved(2 * height * width),
        one_hot(2 * height * width * 4, 77.0f) {
    call.source = {2, 5, 7, 3};
    call.output = {2, height, width, channels};
    call.images = pixels.data();
    call.rows = rows.data();
    call.sums = sums.data();
    call.outside = 9;
    call.mean = mean.data();
    call.inverse_deviation = factor.data();
    call.labels.labels = labels.data();
    call.labels.outside = 255;
    call.labels.classes = 4;
    call.labels.moved = moved.data();
    call.labels.one_hot = one_hot.data();
    call.y = y.data();
  }

  float Pixel(int64_t n, int64_t row, int64_t column, int64_t c) const {
    return pixels[((n * 5 + row) * 7 + column) * 3 + c];
  }

  std::vector<uint8_t> pixels, labels;
  std::vector<InputRow> rows;
  std::vector<uint64_t> sums;
  Floats mean = {100, 110, 120}, factor = {0.5f, 0.25f, 0.125f}, y;
  std::vector<uint8_t> moved;
  Floats one_hot;
  InputCall call;
};

TEST_F(StepOpsTest, InputIsCroppedTurnedNormalisedAndPadded) {
  InputBatch batch(4, 6, 8);
  batch.rows[0].top = -1;
  batch.rows[0].left = 3;
  batch.rows[0].flip_horizontal = true;
  batch.rows[1].top = 1;
  batch.rows[1].flip_vertical = true;
  ASSERT_TRUE(steps_.PrepareInput(*stream_, batch.call).ok());
  for (int64_t at = 0; at < 2 * 4 * 6; ++at) {
    const int64_t n = at / 24, y = at / 6 % 4, x = at % 6;
    const int64_t row = n == 0 ? y - 1 : 1 + 3 - y, column = n == 0 ? 3 + 5 - x : x;
    const bool inside = row >= 0 && row < 5 && column >= 0 && column < 7;
    for (int64_t c = 0; c < 8; ++c) {
      const float value = inside && c < 3 ? batch.Pixel(n, row, column, c) : 9.0f;
      const float expected = c < 3 ? (value - batch.mean[c]) * batch.factor[c] : 0.0f;
      EXPECT_EQ(batch.y[at * 8 + c], expected) << at;
    }
    const int label = inside ? batch.labels[(n * 5 + row) * 7 + column] : 255;
    EXPECT_EQ(batch.moved[at], label);
    for (int k = 0; k < 4; ++k) EXPECT_EQ(batch.one_hot[at * 4 + k], k == label ? 1.0f : 0.0f);
  }
}

// Shares move as the class ids that they were made of.
TEST_F(StepOpsTest, SharesMoveAsClassIds) {
  InputBatch stored(5, 7, 3), batch(4, 6, 3);
  stored.call.rows = nullptr;
  ASSERT_TRUE(steps_.PrepareInput(*stream_, stored.call).ok());
  batch.rows[0].top = -1;
  batch.rows[0].flip_horizontal = true;
  batch.rows[1].left = 3;
  batch.rows[1].flip_vertical = true;
  ASSERT_TRUE(steps_.PrepareInput(*stream_, batch.call).ok());
  Floats moved(batch.one_hot.size(), 77.0f);
  batch.call.labels.type = LabelType::kOneHotF32;
  batch.call.labels.labels = stored.one_hot.data();
  batch.call.labels.moved = nullptr;
  batch.call.labels.one_hot = moved.data();
  ASSERT_TRUE(steps_.PrepareInput(*stream_, batch.call).ok());
  EXPECT_EQ(moved, batch.one_hot);
}

// All four changes at once; the contrast turns around the mean of what the window shows.
TEST_F(StepOpsTest, ColoursChangeAsInTheLoader) {
  const ColorChange change = {60, 700, 1300, 20000};
  InputBatch batch(3, 3, 3);
  batch.mean = {0, 0, 0};
  batch.factor = {1, 1, 1};
  InputRow& row = batch.rows[1];
  row.top = -1;  // shows lines 0 and 1
  row.left = 2;
  row.changes_colors = true;
  const ColorMap map = MakeColorMap(change, 0, 255);
  for (int i = 0; i < 9; ++i) row.colors.factor[i / 3][i % 3] = map.factor[i / 3][i % 3];
  row.colors.offset = map.offset;
  row.colors.contrast_permille = change.contrast_permille;
  ASSERT_TRUE(steps_.PrepareInput(*stream_, batch.call).ok());

  std::vector<uint8_t> shown;
  for (int64_t i = 0; i < 18; ++i) {
    shown.push_back(static_cast<uint8_t>(batch.Pixel(1, i / 9, 2, i % 9)));
  }
  const uint64_t sum = std::accumulate(shown.begin(), shown.end(), uint64_t{0});
  MapColors(MakeColorMap(change, MeanLevel(sum, 18), 255), 6, shown.data());
  Floats expected(9, 9.0f);  // padding keeps its colour
  expected.insert(expected.end(), shown.begin(), shown.end());
  EXPECT_EQ(Floats(batch.y.begin() + 27, batch.y.end()), expected);
  EXPECT_EQ(batch.y[0], batch.Pixel(0, 0, 0, 0)) << "the other row is as it was";
}

TEST_F(StepOpsTest, PaddedImagesAreThoseOfTheInputKernel) {
  InputBatch batch(5, 7, 8);
  batch.call.rows = nullptr;
  ASSERT_TRUE(steps_.PrepareInput(*stream_, batch.call).ok());
  Floats bare(2 * 5 * 7 * 3), padded(batch.y.size(), 55.0f);
  ASSERT_TRUE(backend_
                  .NormalizeImages(*stream_, batch.call.source, ImageType::kU8, batch.pixels.data(),
                                   batch.mean.data(), batch.factor.data(), bare.data())
                  .ok());
  ASSERT_TRUE(backend_
                  .NormalizePaddedImages(*stream_, batch.call.source, ImageType::kU8,
                                         batch.pixels.data(), batch.mean.data(),
                                         batch.factor.data(), 8, padded.data())
                  .ok());
  EXPECT_EQ(padded, batch.y);
  for (size_t i = 0; i < padded.size(); ++i) {
    EXPECT_EQ(padded[i], i % 8 < 3 ? bare[i / 8 * 3 + i % 8] : 0.0f) << i;
  }
}

TEST_F(StepOpsTest, InputOfBf16IsTheRoundedInput) {
  InputBatch batch(5, 7, 4);
  batch.call.rows = nullptr;
  ASSERT_TRUE(steps_.PrepareInput(*stream_, batch.call).ok());
  KernelOps<HostKernelBackend> narrow(ElementType::kBf16, KernelOrder::kAscending);
  StepOps<KernelOps<HostKernelBackend>> narrow_steps(&narrow);
  std::vector<Bfloat16> y(batch.y.size());
  batch.call.y = y.data();
  ASSERT_TRUE(narrow_steps.PrepareInput(*stream_, batch.call).ok());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(ToFloat(y[i]), Rounded<Bfloat16>(batch.y[i]));
}

}  // namespace
}  // namespace shardmill
