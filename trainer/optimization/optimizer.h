// SGD, RMSProp, Adam and AdamW over one flat buffer of parameters.
//
// Every element is updated from its own values alone, in a fixed order of operations, so the
// result depends neither on threads nor on the instruction set. Weight decay touches only the
// ranges that ask for it: not the scale and shift of batch normalisation, not biases.
// Not for concurrent use.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "trainer/optimization/optimizer_rule.h"

namespace shardmill {

enum class OptimizerKind {
  kSgd,      // v = momentum v + g;  p -= rate v  (Nesterov: p -= rate (g + momentum v))
  kAdam,     // weight decay is added to the gradient, here and in SGD and RMSProp
  kAdamW,    // weight decay shrinks the parameter directly: p -= rate decay p
  kRmsProp,  // v = decay v + (1 - decay) g^2;  p -= rate g / (sqrt(v) + epsilon)
};

// InvalidArgument lists the names: sgd, adam, adamw, rmsprop.
Result<OptimizerKind> ParseOptimizerKind(std::string_view name);

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kAdamW;
  double weight_decay = 0;
  double momentum = 0.9;  // sgd
  bool nesterov = false;  // sgd
  double beta1 = 0.9;     // adam, adamw
  double beta2 = 0.999;
  double rms_decay = 0.99;  // rmsprop
  double epsilon = 1e-8;
};

// Elements [begin, end) of the flat buffer.
struct ParameterRange {
  int64_t begin = 0;
  int64_t end = 0;
  bool decay = false;
};

// How many buffers as long as the parameters the optimizer keeps: 0 to 2.
int MomentBuffers(const OptimizerOptions& options);

// The rule of these options, and its numbers in step `step` (1 is the first) for parameters with
// this weight decay.
UpdateRule RuleOf(const OptimizerOptions& options);
UpdateFactors FactorsOf(const OptimizerOptions& options, uint64_t step, double rate, double decay,
                        float gradient_scale);

class Optimizer {
 public:
  // `ranges` cut [0, count) into consecutive parts. InvalidArgument names the value that is out
  // of range.
  static Result<Optimizer> Create(const OptimizerOptions& options,
                                  std::vector<ParameterRange> ranges);

  // One update of all parameters. The gradient that counts is gradient_scale * gradients[i].
  void Step(float* parameters, const float* gradients, double rate, float gradient_scale = 1);

  // The state that a checkpoint keeps: the number of steps taken and 0 to 2 buffers as long as
  // the parameters.
  uint64_t steps_taken() const { return steps_taken_; }
  void set_steps_taken(uint64_t steps) { steps_taken_ = steps; }
  std::vector<std::vector<float>>& moments() { return moments_; }
  const std::vector<std::vector<float>>& moments() const { return moments_; }

 private:
  void StepRange(const ParameterRange& range, float* parameters, const float* gradients,
                 double rate, float gradient_scale);
  Optimizer(const OptimizerOptions& options, std::vector<ParameterRange> ranges);

  OptimizerOptions options_;
  std::vector<ParameterRange> ranges_;
  uint64_t steps_taken_ = 0;
  std::vector<std::vector<float>> moments_;
};

}  // namespace shardmill
