// What one step of an optimizer does to one parameter. The processor and GPUs call this same code:
// compiled without contraction of products and sums, it gives the same bits on both.
#pragma once

#include <cmath>

namespace shardmill {

enum class UpdateRule { kPlainSgd, kMomentumSgd, kNesterovSgd, kAdam, kRmsProp };

// The numbers of one step. Each rule reads those that it needs.
struct UpdateFactors {
  float rate = 0;            // adam: with the bias correction of the first moment
  float gradient_scale = 1;  // the gradient that counts is this times the one given
  float decay = 0;           // times the parameter, added to the gradient
  float shrink = 1;          // adam: what the parameter is multiplied by
  float keep_first = 0;      // momentum, beta1
  float take_first = 0;      // 1 - beta1
  float keep_second = 0;     // beta2, the decay of RMSProp
  float take_second = 0;     // 1 minus that
  float epsilon = 0;
  float second_correction = 1;  // adam: 1 / sqrt(1 - beta2^step)
};

// `first` is the velocity (SGD), the average of the gradient (Adam) or of its square (RMSProp),
// `second` the average of the square of Adam. Rules leave alone what they do not have.
template <UpdateRule rule>
constexpr void UpdateParameter(const UpdateFactors& f, float given_gradient, float* parameter,
                               float* first, float* second) {
  const float gradient = f.gradient_scale * given_gradient + f.decay * *parameter;
  if constexpr (rule == UpdateRule::kPlainSgd) {
    *parameter -= f.rate * gradient;
  } else if constexpr (rule == UpdateRule::kMomentumSgd) {
    *first = f.keep_first * *first + gradient;
    *parameter -= f.rate * *first;
  } else if constexpr (rule == UpdateRule::kNesterovSgd) {
    *first = f.keep_first * *first + gradient;
    *parameter -= f.rate * (gradient + f.keep_first * *first);
  } else if constexpr (rule == UpdateRule::kRmsProp) {
    *first = f.keep_second * *first + f.take_second * gradient * gradient;
    *parameter -= f.rate * gradient / (std::sqrt(*first) + f.epsilon);
  } else {
    *first = f.keep_first * *first + f.take_first * gradient;
    *second = f.keep_second * *second + f.take_second * gradient * gradient;
    *parameter = f.shrink * *parameter -
                 f.rate * *first / (std::sqrt(*second) * f.second_correction + f.epsilon);
  }
}

}  // namespace shardmill
