// Softmax cross-entropy: parity with the reference and the cases in which others return NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/trainer/ops/backend_pair.h"
#include "tests/trainer/random_tensor.h"
#include "tests/trainer/tensor_near.h"

namespace shardmill {
namespace {

constexpr int64_t kIgnore = 255;

// A batch with some ignored pixels, class weights and row weights.
struct LabeledBatch {
  explicit LabeledBatch(const Shape& logits_shape) : shape(logits_shape) {
    logits = RandomTensor<float>(shape.Elements(), 7, "logits");
    for (float& logit : logits) logit *= 4;
    labels = RandomIntegers<uint8_t>(shape.Pixels(), shape.c, 7, "labels");
    for (size_t i = 0; i < labels.size(); i += 5) labels[i] = kIgnore;
    for (int64_t k = 0; k < shape.c; ++k) class_weights.push_back(0.5f + 0.25f * k);
    for (int64_t n = 0; n < shape.n; ++n) row_weights.push_back(n == 1 ? 0.0f : 1.0f + n);
  }

  LossCall Call() const {
    LossCall call;
    call.shape = {shape, LabelType::kIndexU8, kIgnore};
    call.labels = labels.data();
    call.class_weights = class_weights.data();
    call.row_weights = row_weights.data();
    return call;
  }

  Floats OneHot() const {
    Floats shares(shape.Elements(), 0.0f);
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] != kIgnore) shares[i * shape.c + labels[i]] = 1;
    }
    return shares;
  }

  Shape shape;
  Floats logits, class_weights, row_weights;
  std::vector<uint8_t> labels;
};

void ExpectNearResults(const LossResults& actual, const LossResults& expected) {
  EXPECT_NEAR(actual.weight_sum, expected.weight_sum, 1e-6 * expected.weight_sum);
  EXPECT_NEAR(actual.loss_sum, expected.loss_sum, kSoftmaxTolerance * (1 + expected.loss_sum));
  EXPECT_TRUE(TensorNear(actual.dlogits, expected.dlogits, kSoftmaxTolerance));
}

const Shape kShapes[] = {{2, 9, 11, 2}, {1, 1, 1, 3},   {3, 17, 19, 12}, {2, 8, 8, 16},
                         {1, 7, 5, 21}, {2, 3, 4, 150}, {5, 1, 1, 10}};

TEST(LossParity, AgreesWithReference) {
  BackendPair backends;
  for (const Shape& shape : kShapes) {
    const LabeledBatch batch(shape);
    ExpectNearResults(backends.candidate.Loss(batch.Call(), batch.logits),
                      backends.reference.Loss(batch.Call(), batch.logits));
    LossCall plain = batch.Call();
    plain.class_weights = plain.row_weights = nullptr;
    ExpectNearResults(backends.candidate.Loss(plain, batch.logits),
                      backends.reference.Loss(plain, batch.logits));
  }
}

// Smoothed labels, Dice, and only pixels below a probability; of class ids and of soft labels.
TEST(LossParity, TermsAgreeWithReference) {
  BackendPair backends;
  for (const Shape& shape : kShapes) {
    const LabeledBatch batch(shape);
    Floats soft = batch.OneHot();
    for (size_t i = 0; i + 1 < soft.size(); i += 3) std::swap(soft[i], soft[i + 1]);
    const Floats probabilities = RandomTensor<float>(shape.Pixels(), 3, "probabilities");
    const double limit = 0.7;
    for (const bool dense : {false, true}) {
      LossCall call = batch.Call();
      if (dense) {
        call.shape.label_type = LabelType::kOneHotF32;
        call.labels = soft.data();
      }
      call.cross_entropy = 0.5;
      call.label_smoothing = 0.2;
      ExpectNearResults(backends.candidate.Loss(call, batch.logits),
                        backends.reference.Loss(call, batch.logits));
      call.dice = 3;
      ExpectNearResults(backends.candidate.Loss(call, batch.logits),
                        backends.reference.Loss(call, batch.logits));
      call.probabilities = probabilities.data();
      call.probability_limit = &limit;
      ExpectNearResults(backends.candidate.Loss(call, batch.logits),
                        backends.reference.Loss(call, batch.logits));
    }
  }
}

TEST(LossParity, TargetProbabilitiesAndTheirCountsAgreeWithReference) {
  BackendPair backends;
  for (const Shape& shape : kShapes) {
    const LabeledBatch batch(shape);
    const Floats shares = batch.OneHot();
    LossCall dense = batch.Call();
    dense.shape.label_type = LabelType::kOneHotF32;
    dense.labels = shares.data();
    for (const LossCall& call : {batch.Call(), dense}) {
      std::vector<Floats> probabilities;
      std::vector<std::vector<double>> counts;
      for (OpRunner* runner : {&backends.reference, &backends.candidate}) {
        Floats& p = probabilities.emplace_back(shape.Pixels());
        std::vector<double>& c = counts.emplace_back(kProbabilityBins, 7.0);
        OpTable& ops = runner->ops();
        ASSERT_TRUE(
            ops.TargetProbabilities(runner->stream(), call, batch.logits.data(), p.data()).ok());
        ASSERT_TRUE(ops.CountProbabilities(runner->stream(), shape.Pixels(),
                                           probabilities.front().data(), c.data())
                        .ok());
      }
      EXPECT_TRUE(TensorNear(probabilities[1], probabilities[0], kSoftmaxTolerance * 10));
      EXPECT_EQ(counts[1], counts[0]);
    }
  }
}

class EachBackend : public testing::TestWithParam<const char*> {
 protected:
  OpRunner& runner() {
    return GetParam() == std::string("reference") ? backends_.reference : backends_.candidate;
  }

 private:
  BackendPair backends_;
};

INSTANTIATE_TEST_SUITE_P(Backends, EachBackend, testing::Values("reference", "candidate"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(EachBackend, UniformLogitsCostTheLogarithmOfTheClasses) {
  LabeledBatch batch({1, 4, 4, 8});
  batch.logits.assign(batch.logits.size(), 3.0f);
  LossCall call = batch.Call();
  call.class_weights = call.row_weights = nullptr;
  const LossResults results = runner().Loss(call, batch.logits);
  EXPECT_EQ(results.weight_sum, 12);  // 16 pixels, every fifth ignored
  EXPECT_NEAR(results.loss_sum / results.weight_sum, std::log(8.0), 1e-6);
}

TEST_P(EachBackend, OneHotEqualsIndex) {
  for (const Shape& shape : kShapes) {
    const LabeledBatch batch(shape);
    const Floats shares = batch.OneHot();
    LossCall call = batch.Call();
    call.shape.label_type = LabelType::kOneHotF32;
    call.labels = shares.data();
    ExpectNearResults(runner().Loss(call, batch.logits), runner().Loss(batch.Call(), batch.logits));
  }
}

TEST_P(EachBackend, SmoothingEqualsSmoothedSoftLabels) {
  const LabeledBatch batch({2, 9, 7, 5});
  LossCall call = batch.Call();
  call.class_weights = nullptr;
  call.label_smoothing = 0.3;
  Floats soft = batch.OneHot();
  for (size_t p = 0; p < batch.labels.size(); ++p) {
    for (int64_t k = 0; k < 5 && batch.labels[p] != kIgnore; ++k) {
      soft[p * 5 + k] = 0.7f * soft[p * 5 + k] + 0.06f;
    }
  }
  LossCall explicit_call = batch.Call();
  explicit_call.class_weights = nullptr;
  explicit_call.shape.label_type = LabelType::kOneHotF32;
  explicit_call.labels = soft.data();
  ExpectNearResults(runner().Loss(call, batch.logits), runner().Loss(explicit_call, batch.logits));
}

// -(0.9 w_1 log p_1 + 0.1 / 2 (w_0 log p_0 + w_1 log p_1)) / w_1, as PyTorch's cross_entropy with
// weight and label_smoothing.
TEST_P(EachBackend, SmoothingWithClassWeightsMatchesItsClosedForm) {
  LabeledBatch batch({1, 1, 1, 2});
  batch.labels = {1};
  batch.logits = {0, std::log(3.0f)};  // probabilities 1/4 and 3/4
  LossCall call = batch.Call();
  call.row_weights = nullptr;
  call.label_smoothing = 0.1;
  const double w0 = 0.5, w1 = 0.75;
  const double even = 0.05 * (w0 * std::log(4.0) + w1 * std::log(4.0 / 3));
  const LossResults results = runner().Loss(call, batch.logits);
  EXPECT_NEAR(results.weight_sum, w1, 1e-7);
  EXPECT_NEAR(results.loss_sum, 0.9 * w1 * std::log(4.0 / 3) + even, 1e-6);
}

// One image, two pixels of class 0 and 1 with probabilities 3/4 for their class; two classes with
// I = 3/4, P = 1, T = 1 each.
TEST_P(EachBackend, DiceMatchesItsClosedForm) {
  LabeledBatch batch({1, 1, 2, 2});
  batch.labels = {0, 1};
  batch.logits = {std::log(3.0f), 0, 0, std::log(3.0f)};
  LossCall call = batch.Call();
  call.class_weights = call.row_weights = nullptr;
  call.cross_entropy = 0;
  call.dice = 1;
  const LossResults results = runner().Loss(call, batch.logits);
  EXPECT_EQ(results.weight_sum, 2);
  EXPECT_NEAR(results.loss_sum / results.weight_sum, 1 - 2.5 / 3, 1e-6);
}

TEST_P(EachBackend, ImagesWithoutLabelsHaveNoDiceLoss) {
  LabeledBatch batch({2, 3, 3, 4});
  std::fill(batch.labels.begin() + 9, batch.labels.end(), kIgnore);
  LossCall call = batch.Call();
  call.row_weights = nullptr;
  call.dice = 1;
  const LossResults results = runner().Loss(call, batch.logits);
  for (size_t i = 36; i < 72; ++i) EXPECT_EQ(results.dlogits[i], 0);
  batch.labels.assign(18, kIgnore);
  EXPECT_EQ(runner().Loss(call, batch.logits).loss_sum, 0);
}

TEST_P(EachBackend, PixelsThatAreTooEasyAreIgnored) {
  const LabeledBatch batch({2, 5, 7, 6});
  const auto probabilities = RandomTensor<float>(batch.shape.Pixels(), 9, "probabilities");
  const double limit = 0.25;
  LossCall call = batch.Call();
  call.probabilities = probabilities.data();
  call.probability_limit = &limit;
  LabeledBatch fewer = batch;
  for (size_t p = 0; p < probabilities.size(); ++p) {
    if (probabilities[p] >= limit) fewer.labels[p] = kIgnore;
  }
  ExpectNearResults(runner().Loss(call, batch.logits), runner().Loss(fewer.Call(), batch.logits));
}

TEST_P(EachBackend, SixteenBitLabelsEqualEightBit) {
  const LabeledBatch batch({2, 9, 7, 12});
  const std::vector<uint16_t> wide(batch.labels.begin(), batch.labels.end());
  LossCall call = batch.Call();
  call.shape.label_type = LabelType::kIndexU16;
  call.labels = wide.data();
  const LossResults expected = runner().Loss(batch.Call(), batch.logits);
  const LossResults actual = runner().Loss(call, batch.logits);
  EXPECT_EQ(actual.loss_sum, expected.loss_sum);
  EXPECT_EQ(actual.dlogits, expected.dlogits);
}

TEST_P(EachBackend, AllIgnoredGivesZeroNotNan) {
  LabeledBatch batch({2, 5, 7, 12});
  batch.labels.assign(batch.labels.size(), kIgnore);
  const LossResults results = runner().Loss(batch.Call(), batch.logits);
  EXPECT_EQ(results.weight_sum, 0);
  EXPECT_EQ(results.loss_sum, 0);
  EXPECT_EQ(results.dlogits, Floats(batch.logits.size(), 0.0f));
}

TEST_P(EachBackend, LabelsThatAreNoClassDoNotCount) {
  LabeledBatch batch({1, 5, 7, 12});
  LossCall call = batch.Call();
  call.shape.ignore = -1;  // 255 is not a class either
  const LossResults expected = runner().Loss(batch.Call(), batch.logits);
  const LossResults actual = runner().Loss(call, batch.logits);
  EXPECT_EQ(actual.weight_sum, expected.weight_sum);
  EXPECT_EQ(actual.dlogits, expected.dlogits);
}

TEST_P(EachBackend, IgnoreMayBeAClass) {
  LabeledBatch batch({1, 5, 7, 3});
  batch.labels.assign(batch.labels.size(), 0);
  LossCall call = batch.Call();
  call.shape.ignore = 0;
  EXPECT_EQ(runner().Loss(call, batch.logits).weight_sum, 0);
}

TEST_P(EachBackend, ExtremeLogitsStayFinite) {
  LabeledBatch batch({1, 2, 2, 12});
  batch.labels.assign(batch.labels.size(), 3);
  for (size_t i = 0; i < batch.logits.size(); ++i) {
    batch.logits[i] = i % 12 == 7 ? 1e30f : i % 2 == 0 ? -1e30f : -80.0f;
  }
  LossCall call = batch.Call();
  call.class_weights = call.row_weights = nullptr;
  const LossResults results = runner().Loss(call, batch.logits);
  EXPECT_NEAR(results.loss_sum / 4e30, 1, 1e-5);
  for (const float gradient : results.dlogits) EXPECT_TRUE(std::isfinite(gradient));
}

TEST_P(EachBackend, InfiniteLogitsOfIgnoredPixelsDoNoHarm) {
  LabeledBatch batch({1, 2, 2, 12});
  batch.row_weights = {1};
  for (int64_t p = 0; p < 4; ++p) batch.labels[p] = p == 0 ? kIgnore : 1;
  for (int64_t k = 0; k < 12; ++k) batch.logits[k] = INFINITY;
  const LossResults results = runner().Loss(batch.Call(), batch.logits);
  EXPECT_TRUE(std::isfinite(results.loss_sum));
  for (const float gradient : results.dlogits) EXPECT_TRUE(std::isfinite(gradient));
}

TEST_P(EachBackend, GradientSumsToZeroOverTheClasses) {
  const LabeledBatch batch({3, 17, 19, 12});
  const LossResults results = runner().Loss(batch.Call(), batch.logits);
  for (int64_t p = 0; p < batch.shape.Pixels(); ++p) {
    double sum = 0;
    for (int64_t k = 0; k < 12; ++k) sum += results.dlogits[p * 12 + k];
    EXPECT_NEAR(sum, 0, 1e-8);
  }
}

TEST_P(EachBackend, ArgmaxTakesTheFirstOfEquals) {
  const Shape shape = {1, 1, 3, 4};
  const Floats logits = {0, 5, 5, 1, -3, -2, -9, -2, 7, 7, 7, 7};
  std::vector<uint8_t> narrow(3);
  std::vector<uint16_t> wide(3);
  OpTable& ops = runner().ops();
  ASSERT_TRUE(
      ops.Argmax(runner().stream(), shape, logits.data(), LabelType::kIndexU8, narrow.data()).ok());
  ASSERT_TRUE(
      ops.Argmax(runner().stream(), shape, logits.data(), LabelType::kIndexU16, wide.data()).ok());
  EXPECT_EQ(narrow, (std::vector<uint8_t>{1, 1, 0}));
  EXPECT_EQ(wide, (std::vector<uint16_t>{1, 1, 0}));
}

}  // namespace
}  // namespace shardmill
