#include "trainer/optimization/optimizer.h"

#include <cmath>
#include <string>

namespace shardmill {
namespace {

// Written so that the compiler turns the loop into vector code.
template <UpdateRule rule>
void UpdateAll(const UpdateFactors& given, int64_t count, float* __restrict p,
               const float* __restrict g, float* __restrict first, float* __restrict second) {
  const UpdateFactors factors = given;
  for (int64_t i = 0; i < count; ++i) {
    // Rules without moments have no buffers for them.
    float* own_first = rule == UpdateRule::kPlainSgd ? nullptr : first + i;
    float* own_second = rule == UpdateRule::kAdam ? second + i : nullptr;
    UpdateParameter<rule>(factors, g[i], p + i, own_first, own_second);
  }
}

Status CheckOptions(const OptimizerOptions& options) {
  const auto in_unit = [](double value) { return value >= 0 && value < 1; };
  if (!(options.weight_decay >= 0)) return InvalidArgumentError("weight decay must be 0 or more");
  if (!in_unit(options.momentum)) return InvalidArgumentError("momentum must be in [0, 1)");
  if (!in_unit(options.beta1) || !in_unit(options.beta2)) {
    return InvalidArgumentError("the betas of Adam must be in [0, 1)");
  }
  if (!in_unit(options.rms_decay)) {
    return InvalidArgumentError("the decay of RMSProp must be in [0, 1)");
  }
  if (!(options.epsilon > 0)) {
    return InvalidArgumentError("the epsilon of Adam and RMSProp must be above 0");
  }
  if (options.nesterov && options.momentum == 0) {
    return InvalidArgumentError("Nesterov's method needs a momentum above 0");
  }
  return OkStatus();
}

}  // namespace

Result<OptimizerKind> ParseOptimizerKind(std::string_view name) {
  if (name == "sgd") return OptimizerKind::kSgd;
  if (name == "adam") return OptimizerKind::kAdam;
  if (name == "adamw") return OptimizerKind::kAdamW;
  if (name == "rmsprop") return OptimizerKind::kRmsProp;
  return InvalidArgumentError("unknown optimizer '" + std::string(name) +
                              "'; known: sgd, adam, adamw, rmsprop");
}

int MomentBuffers(const OptimizerOptions& options) {
  switch (options.kind) {
    case OptimizerKind::kSgd:
      return options.momentum > 0 ? 1 : 0;
    case OptimizerKind::kRmsProp:
      return 1;
    default:
      return 2;
  }
}

UpdateRule RuleOf(const OptimizerOptions& options) {
  switch (options.kind) {
    case OptimizerKind::kSgd:
      if (options.momentum == 0) return UpdateRule::kPlainSgd;
      return options.nesterov ? UpdateRule::kNesterovSgd : UpdateRule::kMomentumSgd;
    case OptimizerKind::kRmsProp:
      return UpdateRule::kRmsProp;
    default:
      return UpdateRule::kAdam;
  }
}

UpdateFactors FactorsOf(const OptimizerOptions& options, uint64_t step, double rate, double decay,
                        float gradient_scale) {
  UpdateFactors f;
  f.rate = static_cast<float>(rate);
  f.gradient_scale = gradient_scale;
  f.decay = static_cast<float>(decay);
  f.epsilon = static_cast<float>(options.epsilon);
  if (options.kind == OptimizerKind::kSgd) {
    f.keep_first = static_cast<float>(options.momentum);
  } else if (options.kind == OptimizerKind::kRmsProp) {
    f.keep_second = static_cast<float>(options.rms_decay);
    f.take_second = static_cast<float>(1 - options.rms_decay);
  } else {
    const auto steps = static_cast<double>(step);
    f.keep_first = static_cast<float>(options.beta1);
    f.take_first = static_cast<float>(1 - options.beta1);
    f.keep_second = static_cast<float>(options.beta2);
    f.take_second = static_cast<float>(1 - options.beta2);
    f.rate = static_cast<float>(rate / (1 - std::pow(options.beta1, steps)));
    f.second_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(options.beta2, steps)));
    const bool decoupled = options.kind == OptimizerKind::kAdamW;
    f.decay = static_cast<float>(decoupled ? 0 : decay);
    f.shrink = static_cast<float>(decoupled ? 1 - rate * decay : 1);
  }
  return f;
}

Result<Optimizer> Optimizer::Create(const OptimizerOptions& options,
                                    std::vector<ParameterRange> ranges) {
  RETURN_IF_ERROR(CheckOptions(options));
  int64_t next = 0;
  for (const ParameterRange& range : ranges) {
    SHARDMILL_CHECK(range.begin == next && range.end >= range.begin);
    next = range.end;
  }
  return Optimizer(options, std::move(ranges));
}

Optimizer::Optimizer(const OptimizerOptions& options, std::vector<ParameterRange> ranges)
    : options_(options), ranges_(std::move(ranges)) {
  const int64_t count = ranges_.empty() ? 0 : ranges_.back().end;
  moments_.assign(MomentBuffers(options), std::vector<float>(count, 0.0f));
}

void Optimizer::Step(float* parameters, const float* gradients, double rate, float gradient_scale) {
  ++steps_taken_;
  for (const ParameterRange& range : ranges_) {
    StepRange(range, parameters, gradients, rate, gradient_scale);
  }
}

void Optimizer::StepRange(const ParameterRange& range, float* parameters, const float* gradients,
                          double rate, float gradient_scale) {
  const UpdateFactors factors = FactorsOf(options_, steps_taken_, rate,
                                          range.decay ? options_.weight_decay : 0, gradient_scale);
  const auto update = [&](auto* all) {
    float* first = moments_.empty() ? nullptr : moments_[0].data() + range.begin;
    float* second = moments_.size() < 2 ? nullptr : moments_[1].data() + range.begin;
    all(factors, range.end - range.begin, parameters + range.begin, gradients + range.begin, first,
        second);
  };
  switch (RuleOf(options_)) {
    case UpdateRule::kPlainSgd:
      return update(UpdateAll<UpdateRule::kPlainSgd>);
    case UpdateRule::kMomentumSgd:
      return update(UpdateAll<UpdateRule::kMomentumSgd>);
    case UpdateRule::kNesterovSgd:
      return update(UpdateAll<UpdateRule::kNesterovSgd>);
    case UpdateRule::kAdam:
      return update(UpdateAll<UpdateRule::kAdam>);
    case UpdateRule::kRmsProp:
      return update(UpdateAll<UpdateRule::kRmsProp>);
  }
}

}  // namespace shardmill
