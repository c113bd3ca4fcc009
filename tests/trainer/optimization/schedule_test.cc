#include "trainer/optimization/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace shardmill {
namespace {

ScheduleOptions Options(ScheduleKind kind) {
  ScheduleOptions options;
  options.kind = kind;
  options.base_rate = 0.4;
  options.total_steps = 100;
  return options;
}

TEST(Schedule, ConstantStaysAtTheBase) {
  const ScheduleOptions options = Options(ScheduleKind::kConstant);
  EXPECT_EQ(LearningRate(options, 0), 0.4);
  EXPECT_EQ(LearningRate(options, 99), 0.4);
  EXPECT_EQ(LearningRate(options, 1'000'000), 0.4);
}

TEST(Schedule, PolyMatchesTheFormula) {
  const ScheduleOptions options = Options(ScheduleKind::kPoly);
  EXPECT_DOUBLE_EQ(LearningRate(options, 0), 0.4);
  EXPECT_DOUBLE_EQ(LearningRate(options, 50), 0.4 * std::pow(0.5, 0.9));
  EXPECT_NEAR(LearningRate(options, 99), 0.4 * std::pow(0.01, 0.9), 1e-12);
}

TEST(Schedule, StepDropsAtItsMultiples) {
  ScheduleOptions options = Options(ScheduleKind::kStep);
  options.step_steps = 30;
  options.step_factor = 0.5;
  EXPECT_DOUBLE_EQ(LearningRate(options, 29), 0.4);
  EXPECT_DOUBLE_EQ(LearningRate(options, 30), 0.2);
  EXPECT_DOUBLE_EQ(LearningRate(options, 59), 0.2);
  EXPECT_DOUBLE_EQ(LearningRate(options, 90), 0.05);
}

TEST(Schedule, CosineIsHalfAtTheMiddleAndNearsTheFloor) {
  ScheduleOptions options = Options(ScheduleKind::kCosine);
  options.final_rate = 0.1;
  EXPECT_DOUBLE_EQ(LearningRate(options, 0), 0.4);
  EXPECT_NEAR(LearningRate(options, 50), 0.25, 1e-12);
  EXPECT_NEAR(LearningRate(options, 99), 0.1, 1e-3);
  EXPECT_GT(LearningRate(options, 99), 0.1);
}

TEST(Schedule, DecayingSchedulesNeverRise) {
  for (const ScheduleKind kind :
       {ScheduleKind::kPoly, ScheduleKind::kStep, ScheduleKind::kCosine}) {
    const ScheduleOptions options = Options(kind);
    for (uint64_t step = 1; step < 120; ++step) {
      EXPECT_LE(LearningRate(options, step), LearningRate(options, step - 1));
    }
    EXPECT_EQ(LearningRate(options, 99), LearningRate(options, 5'000));
  }
}

TEST(Schedule, WarmupRisesLinearlyAndThenTheScheduleStartsAtTheBase) {
  ScheduleOptions options = Options(ScheduleKind::kPoly);
  options.warmup_steps = 3;
  EXPECT_DOUBLE_EQ(LearningRate(options, 0), 0.1);
  EXPECT_DOUBLE_EQ(LearningRate(options, 1), 0.2);
  EXPECT_NEAR(LearningRate(options, 2), 0.3, 1e-15);
  EXPECT_DOUBLE_EQ(LearningRate(options, 3), 0.4);
  EXPECT_NEAR(LearningRate(options, 99), 0.4 * std::pow(1 - 96.0 / 97, 0.9), 1e-12);
}

TEST(Schedule, BadOptionsAreInvalidArgument) {
  const auto code_with = [](auto change) {
    ScheduleOptions options = Options(ScheduleKind::kPoly);
    change(&options);
    return CheckSchedule(options).code();
  };
  using O = ScheduleOptions*;
  EXPECT_EQ(code_with([](O) {}), StatusCode::kOk);
  EXPECT_EQ(code_with([](O o) { o->base_rate = 0; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->base_rate = NAN; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->total_steps = 0; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->warmup_steps = 100; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->power = -1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->step_steps = 0; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->step_factor = 2; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_with([](O o) { o->final_rate = 1; }), StatusCode::kInvalidArgument);
}

TEST(Schedule, UnknownNameListsTheKnownOnes) {
  EXPECT_EQ(*ParseScheduleKind("cosine"), ScheduleKind::kCosine);
  const Status status = ParseScheduleKind("linear").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("poly"), std::string::npos);
}

}  // namespace
}  // namespace shardmill
