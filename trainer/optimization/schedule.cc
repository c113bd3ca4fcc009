#include "trainer/optimization/schedule.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace shardmill {

Result<ScheduleKind> ParseScheduleKind(std::string_view name) {
  if (name == "constant") return ScheduleKind::kConstant;
  if (name == "poly") return ScheduleKind::kPoly;
  if (name == "step") return ScheduleKind::kStep;
  if (name == "cosine") return ScheduleKind::kCosine;
  return InvalidArgumentError("unknown schedule '" + std::string(name) +
                              "'; known: constant, poly, step, cosine");
}

Status CheckSchedule(const ScheduleOptions& options) {
  if (!(options.base_rate > 0) || !std::isfinite(options.base_rate)) {
    return InvalidArgumentError("the learning rate must be above 0");
  }
  if (options.total_steps == 0) return InvalidArgumentError("a run needs at least one step");
  if (options.warmup_steps >= options.total_steps) {
    return InvalidArgumentError("the warm-up of " + std::to_string(options.warmup_steps) +
                                " steps leaves none of the run's " +
                                std::to_string(options.total_steps) + " steps");
  }
  if (!(options.power > 0)) return InvalidArgumentError("the power of poly must be above 0");
  if (options.step_steps == 0) return InvalidArgumentError("step needs at least 1 step per drop");
  if (!(options.step_factor > 0) || options.step_factor > 1) {
    return InvalidArgumentError("the factor of step must be above 0 and at most 1");
  }
  if (!(options.final_rate >= 0) || options.final_rate > options.base_rate) {
    return InvalidArgumentError("the final learning rate must lie between 0 and the learning rate");
  }
  return OkStatus();
}

double LearningRate(const ScheduleOptions& options, uint64_t step) {
  step = std::min(step, options.total_steps - 1);
  const double base = options.base_rate;
  if (step < options.warmup_steps) {
    return base * static_cast<double>(step + 1) / static_cast<double>(options.warmup_steps + 1);
  }
  const uint64_t after_warmup = step - options.warmup_steps;
  const uint64_t length = options.total_steps - options.warmup_steps;
  const double progress = static_cast<double>(after_warmup) / static_cast<double>(length);
  const double range = base - options.final_rate;
  switch (options.kind) {
    case ScheduleKind::kConstant:
      return base;
    case ScheduleKind::kPoly:
      return options.final_rate + range * std::pow(1 - progress, options.power);
    case ScheduleKind::kStep:
      return base * std::pow(options.step_factor, after_warmup / options.step_steps);
    case ScheduleKind::kCosine:
      return options.final_rate + range * 0.5 * (1 + std::cos(M_PI * progress));
  }
  return base;
}

}  // namespace shardmill
