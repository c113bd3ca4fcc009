// Learning-rate schedules as pure functions of the step: nothing to store, nothing to resume.
#pragma once

#include <cstdint>
#include <string_view>

#include "reader/base/status.h"

namespace shardmill {

enum class ScheduleKind {
  kConstant,
  kPoly,    // base * (1 - progress)^power
  kStep,    // base * step_factor^floor(step / step_steps)
  kCosine,  // half a cosine from base to 0
};

// InvalidArgument lists the names: constant, poly, step, cosine.
Result<ScheduleKind> ParseScheduleKind(std::string_view name);

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::kPoly;
  double base_rate = 1e-3;
  uint64_t total_steps = 1;   // of the whole run, warm-up included
  uint64_t warmup_steps = 0;  // linear rise to base_rate; the other schedules begin after it
  double power = 0.9;         // poly
  uint64_t step_steps = 1;    // step: how many steps between two drops
  double step_factor = 0.1;   // step
  double final_rate = 0;      // poly, cosine: the floor that the last step comes near to
};

// InvalidArgument says which value is out of range.
Status CheckSchedule(const ScheduleOptions& options);

// The rate of step `step` (0 is the first). Steps past the end keep the rate of the last step.
double LearningRate(const ScheduleOptions& options, uint64_t step);

}  // namespace shardmill
