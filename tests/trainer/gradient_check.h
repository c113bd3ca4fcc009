// Compares hand-written backward code with central differences, in double.
//
// f is the sum of the layer's output times a fixed random tensor, so one backward pass gives all
// gradients of f. Inputs are random reals: a step of 1e-6 across a kink of ReLU or max pooling
// has a chance of about one in a million per element, and the seeds are fixed.
#pragma once

#include <string>
#include <vector>

#include "trainer/graph/model_spec.h"
#include "trainer/layers/layer.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

constexpr double kGradientStep = 1e-6;
constexpr double kGradientAbsoluteTolerance = 1e-5;
constexpr double kGradientRelativeTolerance = 1e-3;

// An analytic derivative and the same by central differences.
struct DerivativePair {
  std::string what;
  double analytic = 0;
  double numeric = 0;
};

// Empty when all pairs agree, else a line for the worst one.
std::string WorstDisagreement(const std::vector<DerivativePair>& pairs);

struct LayerCheckOptions {
  GradientMode mode = GradientMode::kOverwrite;  // of the gradients of the inputs
  uint64_t seed = 1;
};

// Checks the derivatives by all inputs and all parameters (every element of small tensors, an
// even sample of large ones) of a layer with f64 `ops`. Empty when they agree.
std::string CheckLayerGradients(const LayerSpec& spec, const std::vector<Shape>& inputs,
                                OpTable* ops, const LayerCheckOptions& options = {});

}  // namespace shardmill
