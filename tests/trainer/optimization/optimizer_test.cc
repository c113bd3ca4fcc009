#include "trainer/optimization/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace shardmill {
namespace {

// 24 bits of mantissa, a few operations per step: well inside this for 50 steps of size-1 values.
constexpr double kTolerance = 2e-5;

std::vector<float> RandomVector(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

// One parameter in double precision, each rule written as in its paper.
struct ReferenceParameter {
  double p = 0, m = 0, v = 0;

  void Step(const OptimizerOptions& o, bool decays, double gradient, double rate, int step) {
    const double decay = decays ? o.weight_decay : 0;
    if (o.kind == OptimizerKind::kSgd) {
      const double g = gradient + decay * p;
      v = o.momentum * v + g;
      p -= rate * (o.nesterov ? g + o.momentum * v : v);
      return;
    }
    double g = gradient;
    if (o.kind != OptimizerKind::kAdamW) g += decay * p;
    if (o.kind == OptimizerKind::kRmsProp) {
      v = o.rms_decay * v + (1 - o.rms_decay) * g * g;
      p -= rate * g / (std::sqrt(v) + o.epsilon);
      return;
    }
    if (o.kind == OptimizerKind::kAdamW) p -= rate * decay * p;
    m = o.beta1 * m + (1 - o.beta1) * g;
    v = o.beta2 * v + (1 - o.beta2) * g * g;
    const double m_hat = m / (1 - std::pow(o.beta1, step));
    const double v_hat = v / (1 - std::pow(o.beta2, step));
    p -= rate * m_hat / (std::sqrt(v_hat) + o.epsilon);
  }
};

void ExpectMatchesReference(const OptimizerOptions& options) {
  constexpr int64_t kCount = 133;  // no multiple of a vector, so that tails are covered
  const std::vector<ParameterRange> ranges = {{0, 50, true}, {50, 61, false}, {61, kCount, true}};
  auto optimizer = Optimizer::Create(options, ranges);
  ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
  std::vector<float> parameters = RandomVector(kCount, 1);
  std::vector<ReferenceParameter> reference(kCount);
  for (int64_t i = 0; i < kCount; ++i) reference[i].p = parameters[i];
  for (int step = 1; step <= 50; ++step) {
    const std::vector<float> gradients = RandomVector(kCount, 100 + step);
    const double rate = 0.01 / step;
    optimizer->Step(parameters.data(), gradients.data(), rate, 0.5f);
    for (int64_t i = 0; i < kCount; ++i) {
      const bool decays = i < 50 || i >= 61;
      reference[i].Step(options, decays, 0.5 * gradients[i], rate, step);
    }
  }
  for (int64_t i = 0; i < kCount; ++i) {
    EXPECT_NEAR(parameters[i], reference[i].p, kTolerance) << "element " << i;
  }
}

OptimizerOptions With(OptimizerKind kind, double momentum, bool nesterov) {
  OptimizerOptions options;
  options.kind = kind;
  options.weight_decay = 0.1;
  options.momentum = momentum;
  options.nesterov = nesterov;
  return options;
}

TEST(Optimizer, PlainSgdMatchesReference) {
  ExpectMatchesReference(With(OptimizerKind::kSgd, 0, false));
}
TEST(Optimizer, MomentumSgdMatchesReference) {
  ExpectMatchesReference(With(OptimizerKind::kSgd, 0.9, false));
}
TEST(Optimizer, NesterovSgdMatchesReference) {
  ExpectMatchesReference(With(OptimizerKind::kSgd, 0.9, true));
}
TEST(Optimizer, AdamMatchesReference) {
  ExpectMatchesReference(With(OptimizerKind::kAdam, 0.9, false));
}
TEST(Optimizer, AdamWMatchesReference) {
  ExpectMatchesReference(With(OptimizerKind::kAdamW, 0.9, false));
}
TEST(Optimizer, RmsPropMatchesReference) {
  ExpectMatchesReference(With(OptimizerKind::kRmsProp, 0.9, false));
}

TEST(Optimizer, FirstAdamStepIsTheRateWhateverTheGradient) {
  OptimizerOptions options;
  auto optimizer = Optimizer::Create(options, {{0, 3, false}});
  std::vector<float> parameters = {0, 0, 0};
  const std::vector<float> gradients = {1e-3f, -5, 700};
  optimizer->Step(parameters.data(), gradients.data(), 0.25);
  EXPECT_NEAR(parameters[0], -0.25, 1e-5);
  EXPECT_NEAR(parameters[1], 0.25, 1e-5);
  EXPECT_NEAR(parameters[2], -0.25, 1e-5);
}

// With a constant gradient the velocity is a geometric series.
TEST(Optimizer, MomentumMatchesItsClosedForm) {
  const OptimizerOptions options = [] {
    OptimizerOptions o = With(OptimizerKind::kSgd, 0.5, false);
    o.weight_decay = 0;
    return o;
  }();
  auto optimizer = Optimizer::Create(options, {{0, 1, true}});
  float parameter = 0;
  const float gradient = 1;
  double expected = 0;
  for (int step = 1; step <= 10; ++step) {
    optimizer->Step(&parameter, &gradient, 0.1);
    expected -= 0.1 * (1 - std::pow(0.5, step)) / 0.5;
  }
  EXPECT_NEAR(parameter, expected, 1e-6);
}

TEST(Optimizer, DecayTouchesOnlyTheRangesThatAskForIt) {
  for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdam, OptimizerKind::kAdamW,
                                   OptimizerKind::kRmsProp}) {
    auto optimizer = Optimizer::Create(With(kind, 0.9, false), {{0, 1, true}, {1, 2, false}});
    std::vector<float> parameters = {1, 1};
    const std::vector<float> gradients = {0, 0};
    optimizer->Step(parameters.data(), gradients.data(), 0.1);
    EXPECT_LT(parameters[0], 1);
    EXPECT_EQ(parameters[1], 1);
  }
}

TEST(Optimizer, RestoredStateContinuesBitForBit) {
  for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdam, OptimizerKind::kAdamW,
                                   OptimizerKind::kRmsProp}) {
    const OptimizerOptions options = With(kind, 0.9, false);
    const std::vector<ParameterRange> ranges = {{0, 37, true}};
    auto straight = Optimizer::Create(options, ranges);
    std::vector<float> expected = RandomVector(37, 1);
    std::vector<float> resumed = expected;
    auto first_half = Optimizer::Create(options, ranges);
    for (int step = 0; step < 5; ++step) {
      const std::vector<float> gradients = RandomVector(37, 10 + step);
      straight->Step(expected.data(), gradients.data(), 0.01);
      first_half->Step(resumed.data(), gradients.data(), 0.01);
    }
    auto second_half = Optimizer::Create(options, ranges);
    second_half->set_steps_taken(first_half->steps_taken());
    second_half->moments() = first_half->moments();
    for (int step = 5; step < 10; ++step) {
      const std::vector<float> gradients = RandomVector(37, 10 + step);
      straight->Step(expected.data(), gradients.data(), 0.01);
      second_half->Step(resumed.data(), gradients.data(), 0.01);
    }
    EXPECT_EQ(resumed, expected);
  }
}

TEST(Optimizer, BadOptionsAreInvalidArgument) {
  const auto code_with = [](auto change) {
    OptimizerOptions options;
    change(&options);
    return Optimizer::Create(options, {}).status().code();
  };
  using O = OptimizerOptions*;
  EXPECT_EQ(code_with([](O) {}), StatusCode::kOk);
  EXPECT_EQ(code_with([](O o) { o->weight_decay = -1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->momentum = 1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->beta1 = NAN; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->beta2 = 1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->epsilon = 0; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->rms_decay = 1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) {
              o->nesterov = true;
              o->momentum = 0;
            }),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseOptimizerKind("lion").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
