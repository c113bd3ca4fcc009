#include "trainer/optimizer.h"

#include <cmath>
#include <string>

namespace shardmill {
namespace {

// The kernels below are written so that the compiler turns each loop into vector code.

void PlainSgd(int64_t count, float* __restrict p, const float* __restrict g, float scale,
              float decay, float rate) {
  for (int64_t i = 0; i < count; ++i) p[i] -= rate * (scale * g[i] + decay * p[i]);
}

void MomentumSgd(int64_t count, float* __restrict p, const float* __restrict g, float* __restrict v,
                 float scale, float decay, float rate, float momentum) {
  for (int64_t i = 0; i < count; ++i) {
    v[i] = momentum * v[i] + (scale * g[i] + decay * p[i]);
    p[i] -= rate * v[i];
  }
}

void NesterovSgd(int64_t count, float* __restrict p, const float* __restrict g, float* __restrict v,
                 float scale, float decay, float rate, float momentum) {
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = scale * g[i] + decay * p[i];
    v[i] = momentum * v[i] + gradient;
    p[i] -= rate * (gradient + momentum * v[i]);
  }
}

struct AdamFactors {
  float beta1, one_minus_beta1, beta2, one_minus_beta2, epsilon;
  float rate;               // with the bias correction of the first moment
  float second_correction;  // 1 / sqrt(1 - beta2^step)
  float gradient_decay;     // adam
  float shrink;             // adamw: 1 - rate * decay
};

void AdamKernel(int64_t count, float* __restrict p, const float* __restrict g, float* __restrict m,
                float* __restrict v, float scale, const AdamFactors& f) {
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = scale * g[i] + f.gradient_decay * p[i];
    m[i] = f.beta1 * m[i] + f.one_minus_beta1 * gradient;
    v[i] = f.beta2 * v[i] + f.one_minus_beta2 * gradient * gradient;
    p[i] = f.shrink * p[i] - f.rate * m[i] / (std::sqrt(v[i]) * f.second_correction + f.epsilon);
  }
}

void RmsPropKernel(int64_t count, float* __restrict p, const float* __restrict g,
                   float* __restrict v, float scale, float decay, float rate,
                   const OptimizerOptions& options) {
  const auto keep = static_cast<float>(options.rms_decay);
  const auto take = static_cast<float>(1 - options.rms_decay);
  const auto epsilon = static_cast<float>(options.epsilon);
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = scale * g[i] + decay * p[i];
    v[i] = keep * v[i] + take * gradient * gradient;
    p[i] -= rate * gradient / (std::sqrt(v[i]) + epsilon);
  }
}

AdamFactors FactorsOf(const OptimizerOptions& o, double steps, double rate, double decay) {
  AdamFactors f;
  f.beta1 = static_cast<float>(o.beta1);
  f.one_minus_beta1 = static_cast<float>(1 - o.beta1);
  f.beta2 = static_cast<float>(o.beta2);
  f.one_minus_beta2 = static_cast<float>(1 - o.beta2);
  f.epsilon = static_cast<float>(o.epsilon);
  f.rate = static_cast<float>(rate / (1 - std::pow(o.beta1, steps)));
  f.second_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(o.beta2, steps)));
  const bool decoupled = o.kind == OptimizerKind::kAdamW;
  f.gradient_decay = static_cast<float>(decoupled ? 0 : decay);
  f.shrink = static_cast<float>(decoupled ? 1 - rate * decay : 1);
  return f;
}

int BuffersOf(const OptimizerOptions& options) {
  switch (options.kind) {
    case OptimizerKind::kSgd:
      return options.momentum > 0 ? 1 : 0;
    case OptimizerKind::kRmsProp:
      return 1;
    default:
      return 2;
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
  moments_.assign(BuffersOf(options), std::vector<float>(count, 0.0f));
}

void Optimizer::Step(float* parameters, const float* gradients, double rate, float gradient_scale) {
  ++steps_taken_;
  for (const ParameterRange& range : ranges_) {
    StepRange(range, parameters, gradients, rate, gradient_scale);
  }
}

void Optimizer::StepRange(const ParameterRange& range, float* parameters, const float* gradients,
                          double rate, float gradient_scale) {
  const OptimizerOptions& o = options_;
  const int64_t count = range.end - range.begin;
  float* p = parameters + range.begin;
  const float* g = gradients + range.begin;
  const double decay = range.decay ? o.weight_decay : 0;
  const auto decay_f = static_cast<float>(decay);
  const auto rate_f = static_cast<float>(rate);
  if (moments_.empty()) return PlainSgd(count, p, g, gradient_scale, decay_f, rate_f);
  float* first = moments_[0].data() + range.begin;
  if (o.kind == OptimizerKind::kSgd) {
    auto* kernel = o.nesterov ? NesterovSgd : MomentumSgd;
    return kernel(count, p, g, first, gradient_scale, decay_f, rate_f,
                  static_cast<float>(o.momentum));
  }
  if (o.kind == OptimizerKind::kRmsProp) {
    return RmsPropKernel(count, p, g, first, gradient_scale, decay_f, rate_f, o);
  }
  const AdamFactors f = FactorsOf(o, static_cast<double>(steps_taken_), rate, decay);
  AdamKernel(count, p, g, first, moments_[1].data() + range.begin, gradient_scale, f);
}

}  // namespace shardmill
