#include "tests/trainer/cuda/operation_suite.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/trainer/cuda/suite_tensors.h"
#include "trainer/cuda/kernels/bfloat16.h"

namespace shardmill {
namespace {

void RunElementwise(SuiteTensors* t, const Shape& shape) {
  OpTable& ops = t->ops();
  const int64_t size = shape.Elements();
  const void* x = t->Elements("x", size);
  const void* dy = t->Elements("dy", size);
  void* y = t->Output(size);
  Succeed(ops.ActivationForward(t->stream(), Activation::kRelu6, size, x, y));
  t->Keep("relu6", y, size);
  Succeed(ops.ActivationBackward(t->stream(), Activation::kRelu6, size, x, dy, y));
  t->Keep("relu6 gradient", y, size);
  Succeed(ops.Dropout(t->stream(), {shape, 77, 5, 0.3, false}, x, y));
  t->Keep("dropout", y, size);
  Succeed(ops.Dropout(t->stream(), {shape, 77, 5, 0.5, true}, x, y));
  t->Keep("dropout of channels", y, size);
  void* sum = t->Elements("before", size);
  Succeed(ops.Add(t->stream(), size, dy, sum));
  t->Keep("sum", sum, size);
  const float* mean = t->Vector("mean", shape.c);
  const float* scale = t->Vector("scale", shape.c);
  Succeed(ops.NormalizeImages(t->stream(), shape, ImageType::kU8, t->Integers<uint8_t>(size, 256),
                              mean, scale, y));
  t->Keep("normalised", y, size);
  const int64_t padded = (shape.c + 8) / 8 * 8;
  void* wide = t->Output(shape.Pixels() * padded);
  Succeed(ops.NormalizePaddedImages(t->stream(), shape, ImageType::kU8,
                                    t->Integers<uint8_t>(size, 256), mean, scale, padded, wide));
  t->Keep("normalised and padded", wide, shape.Pixels() * padded);
}

void RunChannels(SuiteTensors* t, const Shape& shape) {
  OpTable& ops = t->ops();
  const int64_t size = shape.Elements();
  BatchNormCall norm;
  norm.shape = shape;
  norm.activation = Activation::kRelu;
  norm.x = t->Elements("x", size);
  norm.scale = t->Vector("scale", shape.c);
  norm.shift = t->Vector("shift", shape.c);
  norm.workspace = t->Workspace(ops.BatchNormWorkspaceBytes(shape));
  float* mean = t->NewVector(shape.c);
  float* variance = t->NewVector(shape.c);
  Succeed(ops.BatchNormStatistics(t->stream(), shape, norm.x, mean, variance, norm.workspace));
  t->KeepVector("mean", mean, shape.c);
  t->KeepVector("variance", variance, shape.c);
  float* running = t->Vector("running", shape.c);
  float* spread = t->Vector("spread", shape.c);
  Succeed(ops.BatchNormUpdateRunning(t->stream(), shape.c, shape.Pixels(), 0.25, mean, variance,
                                     running, spread));
  t->KeepVector("running mean", running, shape.c);
  t->KeepVector("running variance", spread, shape.c);
  norm.mean = t->Vector("some mean", shape.c);
  norm.variance = t->PositiveVector("some variance", shape.c);
  void* y = t->Output(size);
  Succeed(ops.BatchNormForward(t->stream(), norm, y));
  t->Keep("batch norm", y, size);
  void* dy = t->Elements("dy", size);
  float* dscale = t->NewVector(shape.c);
  float* dshift = t->NewVector(shape.c);
  Succeed(ops.BatchNormBackwardSums(t->stream(), norm, y, dy, dscale, dshift));
  t->KeepVector("dscale", dscale, shape.c);
  t->KeepVector("dshift", dshift, shape.c);
  const BatchNormSums sums = {dscale, dshift, shape.Pixels() + 3};
  Succeed(ops.BatchNormBackwardData(t->stream(), norm, sums, y, dy, dy));
  t->Keep("batch norm gradient", dy, size);
}

// With and without a bias of the convolution; one weight per channel, and many.
void RunFolding(SuiteTensors* t, const Shape& shape) {
  BatchNormFold fold;
  fold.channels = shape.c;
  fold.mean = t->Vector("mean", shape.c);
  fold.variance = t->PositiveVector("variance", shape.c);
  fold.scale = t->Vector("scale", shape.c);
  fold.shift = t->Vector("shift", shape.c);
  for (const int64_t taps : {int64_t{1}, shape.h * shape.w}) {
    fold.weights_per_channel = taps;
    fold.weights = t->Vector("weights", shape.c * taps);
    fold.bias = taps == 1 ? nullptr : t->Vector("bias", shape.c);
    void* weights = t->Output(shape.c * taps);
    float* bias = t->NewVector(shape.c);
    Succeed(t->ops().FoldBatchNorm(t->stream(), fold, weights, bias));
    t->Keep("folded weights", weights, shape.c * taps);
    t->KeepVector("folded bias", bias, shape.c);
  }
}

void RunPrelu(SuiteTensors* t, const Shape& shape) {
  OpTable& ops = t->ops();
  const int64_t size = shape.Elements();
  const void* x = t->Elements("x", size);
  const void* dy = t->Elements("dy", size);
  const float* slopes = t->Vector("slopes", shape.c);
  void* y = t->Output(size);
  Succeed(ops.PreluForward(t->stream(), shape, x, slopes, y));
  t->Keep("PReLU", y, size);
  float* dslopes = t->NewVector(shape.c);
  Succeed(ops.PreluBackward(t->stream(), shape, x, slopes, dy, y, dslopes,
                            t->Workspace(ops.PreluWorkspaceBytes(shape))));
  t->Keep("PReLU gradient", y, size);
  t->KeepVector("slopes gradient", dslopes, shape.c);
}

void RunPools(SuiteTensors* t, const Shape& shape) {
  OpTable& ops = t->ops();
  const PoolShape pool = {shape, SquareWindow(3, 2, 1)};
  const int64_t size = shape.Elements(), pooled = pool.Output().Elements();
  const void* x = t->Elements("x", size);
  const void* dy = t->Elements("dy", pooled);
  void* y = t->Output(pooled);
  void* dx = t->Elements("before", size);
  auto* indices = static_cast<uint8_t*>(t->New(pooled));
  Succeed(ops.MaxPoolForward(t->stream(), pool, x, y, indices));
  t->Keep("max pool", y, pooled);
  Succeed(ops.MaxPoolGather(t->stream(), pool, x, indices, GradientMode::kOverwrite, y));
  t->Keep("gathered", y, pooled);
  Succeed(ops.MaxPoolBackward(t->stream(), pool, dy, indices, GradientMode::kAdd, dx));
  t->Keep("max pool gradient", dx, size);
  Succeed(ops.AveragePoolForward(t->stream(), pool, x, y));
  t->Keep("average pool", y, pooled);
  Succeed(ops.AveragePoolBackward(t->stream(), pool, dy, GradientMode::kOverwrite, dx));
  t->Keep("average pool gradient", dx, size);
  void* means = t->Output(shape.n * shape.c);
  Succeed(ops.GlobalAveragePoolForward(t->stream(), shape, x, means));
  t->Keep("global average", means, shape.n * shape.c);
  Succeed(ops.GlobalAveragePoolBackward(t->stream(), shape, t->Elements("dmeans", size),
                                        GradientMode::kOverwrite, dx));
  t->Keep("global average gradient", dx, size);
}

void RunUpsampling(SuiteTensors* t, const Shape& shape) {
  OpTable& ops = t->ops();
  const UpsampleShape up = {shape, 2, 3, UpsampleMode::kBilinear};
  const int64_t size = shape.Elements(), large = up.Output().Elements();
  void* y = t->Output(large);
  Succeed(ops.UpsampleForward(t->stream(), up, t->Elements("x", size), y));
  t->Keep("upsampled", y, large);
  void* dx = t->Output(size);
  Succeed(ops.UpsampleBackward(t->stream(), up, t->Elements("dy", large), GradientMode::kOverwrite,
                               dx));
  t->Keep("upsampling gradient", dx, size);
}

void RunConcat(SuiteTensors* t, const Shape& shape) {
  OpTable& ops = t->ops();
  const Shape other = {shape.n, shape.h + 1, shape.w + 2, shape.c + 2};
  const Shape whole = {shape.n, shape.h + 1, shape.w, 2 * shape.c + 2};
  void* y = t->Output(whole.Elements());
  ConcatPart parts[2];
  parts[0].shape = shape;
  parts[0].x = t->Elements("x", shape.Elements());
  parts[0].dx = t->Elements("before", shape.Elements());
  parts[0].mode = GradientMode::kAdd;
  parts[1].shape = other;
  parts[1].x = t->Elements("other", other.Elements());
  parts[1].dx = t->Output(other.Elements());
  Succeed(ops.ConcatForward(t->stream(), whole, parts, 2, y));
  t->Keep("concatenation", y, whole.Elements());
  const void* dy = t->Elements("dy", whole.Elements());
  Succeed(ops.ConcatBackward(t->stream(), whole, parts, 2, dy));
  t->Keep("first gradient", parts[0].dx, shape.Elements());
  t->Keep("second gradient", parts[1].dx, other.Elements());
}

void RunSequences(SuiteTensors* t, const Shape& image) {
  OpTable& ops = t->ops();
  const Shape shape = {image.n, 1, image.h * image.w, image.c};
  const int64_t size = shape.Elements(), pooled = 2 * shape.n * shape.c;
  const int32_t* lengths = t->Lengths(shape.n, shape.w);
  void* x = t->Elements("x", size);
  void* y = t->Output(pooled);
  Succeed(ops.StatisticsPoolForward(t->stream(), shape, lengths, x, y));
  t->Keep("statistics", y, pooled);
  const void* some = t->PositiveElements("some statistics", pooled);
  void* dx = t->Output(size);
  Succeed(ops.StatisticsPoolBackward(t->stream(), shape, lengths, x, some,
                                     t->Elements("dy", pooled), GradientMode::kOverwrite, dx));
  t->Keep("statistics gradient", dx, size);
  Succeed(ops.ZeroPadding(t->stream(), shape, lengths, x));
  t->Keep("without padding", x, size);
}

LossCall MakeLossCall(SuiteTensors* t, const Shape& shape, SuiteLabels labels) {
  LossCall loss;
  loss.shape = {shape, LabelType::kIndexU8, 255};
  const bool none = labels == SuiteLabels::kAllIgnored;
  loss.labels = none ? t->Same(shape.Pixels(), uint8_t{255})
                     : t->Integers<uint8_t>(shape.Pixels(), shape.c + 1);
  loss.class_weights = t->PositiveVector("class weights", shape.c);
  loss.row_weights = t->PositiveVector("row weights", shape.n);
  loss.cross_entropy = 0.5;
  loss.dice = 2;
  loss.label_smoothing = 0.125;
  loss.workspace = t->Workspace(t->ops().LossWorkspaceBytes(loss.shape));
  return loss;
}

void RunLosses(SuiteTensors* t, const Shape& shape, SuiteLabels labels) {
  OpTable& ops = t->ops();
  const LossCall loss = MakeLossCall(t, shape, labels);
  const int64_t size = shape.Elements(), pixels = shape.Pixels();
  const void* logits = t->Elements("logits", size);
  auto* sums = static_cast<double*>(t->New(2 * 8));
  void* dlogits = t->Output(size);
  Succeed(ops.LossWeight(t->stream(), loss, sums));
  Succeed(ops.SoftmaxCrossEntropy(t->stream(), loss, logits, sums, sums + 1, dlogits));
  t->KeepDoubles("cross-entropy", sums, 2);
  t->Keep("cross-entropy gradient", dlogits, size);
  Succeed(ops.SoftmaxCrossEntropy(t->stream(), loss, logits, sums, sums + 1, nullptr));
  t->KeepDoubles("cross-entropy without its gradient", sums, 2);
  void* from_zero = t->New(size * ElementBytes(ops.element_type()));
  Succeed(ops.AddDiceLoss(t->stream(), loss, logits, sums, sums + 1, from_zero));
  t->KeepDoubles("with Dice loss", sums, 2);
  t->Keep("Dice loss gradient", from_zero, size);
  float* probabilities = t->NewVector(pixels);
  Succeed(ops.TargetProbabilities(t->stream(), loss, logits, probabilities));
  t->KeepVector("probabilities", probabilities, pixels);
  auto* counts = static_cast<double*>(t->New(kProbabilityBins * 8));
  Succeed(
      ops.CountProbabilities(t->stream(), pixels, t->Vector("some probabilities", pixels), counts));
  t->KeepDoubles("counts", counts, kProbabilityBins);
  void* classes = t->New(2 * pixels);
  Succeed(ops.Argmax(t->stream(), shape, logits, LabelType::kIndexU16, classes));
  t->KeepClasses("argmax", classes, pixels);
}

}  // namespace

std::vector<SuiteResult> RunOperations(OpTable* ops, const Shape& shape, SuiteLabels labels) {
  SuiteTensors tensors(ops);
  RunElementwise(&tensors, shape);
  RunChannels(&tensors, shape);
  RunFolding(&tensors, shape);
  RunPrelu(&tensors, shape);
  RunPools(&tensors, shape);
  RunUpsampling(&tensors, shape);
  RunConcat(&tensors, shape);
  RunSequences(&tensors, shape);
  RunLosses(&tensors, shape, labels);
  return tensors.results();
}

void ExpectSameBits(const std::vector<SuiteResult>& actual,
                    const std::vector<SuiteResult>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].values, expected[i].values) << expected[i].name;
  }
}

void ExpectNearResults(const std::vector<SuiteResult>& actual,
                       const std::vector<SuiteResult>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t t = 0; t < actual.size(); ++t) {
    const std::vector<float>& values = expected[t].values;
    ASSERT_EQ(actual[t].values.size(), values.size()) << expected[t].name;
    double squares = 0;
    for (const float value : values) squares += static_cast<double>(value) * value;
    const double size = std::sqrt(squares / static_cast<double>(values.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      const double error = std::abs(static_cast<double>(actual[t].values[i]) - values[i]);
      // Written so that NaN fails.
      if (error <= tolerance * (std::abs(values[i]) + size)) continue;
      ADD_FAILURE() << expected[t].name << ": element " << i << " of " << values.size() << " is "
                    << actual[t].values[i] << ", not " << values[i];
      break;
    }
  }
}

}  // namespace shardmill
