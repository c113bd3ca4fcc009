// The inner loops of batch norm over a run of whole pixels; vectors are periodic (period.h) and
// start at the channel of the first element.
#pragma once

#include <cstdint>

#include "trainer/ops/op_shapes.h"

namespace shardmill {

struct PeriodicNorm {
  int64_t period = 0;
  Activation activation = Activation::kNone;
  const float* mean = nullptr;
  const float* factor = nullptr;  // scale / sqrt(variance + epsilon)
  const float* shift = nullptr;
};

// sums[i] += x[i]
void AddPeriods(const float* x, int64_t elements, int64_t period, float* sums);
// sums[i] += (x[i] - mean[i])^2
void AddSquaredDeviations(const float* x, int64_t elements, int64_t period, const float* mean,
                          float* sums);
// y = activation((x - mean) * factor + shift)
void NormalizePeriods(const PeriodicNorm& norm, const float* x, int64_t elements, float* y);
// With g = dy where the activation let the value pass, else 0:
// gradients[i] += g; products[i] += g * (x - mean)
void AddGradients(const PeriodicNorm& norm, const float* x, const float* dy, int64_t elements,
                  float* gradients, float* products);
// dx = factor * g - constant - slope * (x - mean)
void GradientOfInput(const PeriodicNorm& norm, const float* constant, const float* slope,
                     const float* x, const float* dy, int64_t elements, float* dx);

}  // namespace shardmill
