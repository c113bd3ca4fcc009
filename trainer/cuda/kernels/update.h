// What happens to the flat buffers after backward: the norm of the gradient, the update of the
// parameters, their copy in bf16, the moving average. The numbers of a step are read from the
// memory of the device, so that a recorded graph of launches serves all steps.
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/cuda/kernels/cross_entropy.h"
#include "trainer/cuda/kernels/group.h"
#include "trainer/optimization/optimizer_rule.h"

namespace shardmill {

struct StepNumbers {
  UpdateFactors plain, decayed;  // without and with weight decay
  double clip_norm = 0;          // longest gradient; 0: any
  float average_share = 0;       // how far the average moves towards the weights
  uint32_t skip = 0;             // not 0: the weights stay as they are
};

// Stops all updates behind the first step whose loss or gradient is not finite.
struct StepGuard {
  const double* loss = nullptr;
  uint32_t* halted = nullptr;  // null: no guard; else 0 at first, and 1 from that step on
};

// Elements [begin, end) of the flat buffer follow `begin` of the one before.
struct UpdateRange {
  int64_t end;
  bool decay;
};

// One index: every `slices`-th group; the sum of the squares becomes sums[index].
struct SquaresKernel {
  int64_t elements, slices;
  const float* values;
  double* sums;

  SHARDMILL_HD void operator()(int64_t index) const {
    double sum = 0;
    for (int64_t group = index; group < GroupsOf<float>(elements); group += slices) {
      const Span<float> span(group, elements);
      const Group<float> loaded = LoadGroup(values + span.first, span.count);
      for (const float value : loaded.values) sum += static_cast<double>(value) * value;
    }
    sums[index] = sum;
  }
};

// Stores the norm, and shortens the gradient of the step to the longest that is allowed.
struct FinishNorm {
  double* norm;
  StepNumbers* step;
  StepGuard guard;

  SHARDMILL_HD void operator()(int64_t, const DoubleSum& sum) const {
    *norm = sqrt(sum.value);
    const bool is_long = step->clip_norm > 0 && *norm > step->clip_norm;
    const auto scale = static_cast<float>(is_long ? step->clip_norm / *norm : 1.0);
    step->plain.gradient_scale = step->decayed.gradient_scale = scale;
    if (guard.halted == nullptr) return;
    const double both = *norm + *guard.loss;
    if (!(both - both == 0)) *guard.halted = 1;
    step->skip = *guard.halted;
  }
};

// What the passes over one batch leave is added up: sums += values, or sums = values of the first
// pass; one index: four elements.
struct AddUpKernel {
  int64_t elements;
  bool is_first;
  const float* values;
  float* sums;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<float> span(index, elements);
    Group<float> group = LoadGroup(values + span.first, span.count);
    if (!is_first) {
      const Group<float> before = LoadGroup(sums + span.first, span.count);
      for (int i = 0; i < Group<float>::kWidth; ++i) group[i] += before[i];
    }
    StoreGroup(group, span.count, sums + span.first);
  }
};

// sums += values, for numbers of which there are few; one index: one number.
struct AddNumbersKernel {
  const double* values;
  double* sums;

  SHARDMILL_HD void operator()(int64_t index) const { sums[index] += values[index]; }
};

// values /= *weight, or 0 where that is not above 0; one index: four elements.
struct DivideKernel {
  int64_t elements;
  const double* weight;
  float* values;

  SHARDMILL_HD void operator()(int64_t index) const {
    const float factor = *weight > 0 ? static_cast<float>(1 / *weight) : 0.0f;
    const Span<float> span(index, elements);
    Group<float> group = LoadGroup(values + span.first, span.count);
    for (int i = 0; i < Group<float>::kWidth; ++i) group[i] *= factor;
    StoreGroup(group, span.count, values + span.first);
  }
};

// The state of an optimizer over one flat buffer, whose parts follow one another.
struct UpdateBuffers {
  int64_t elements;
  int range_count;
  const UpdateRange* ranges;
  float* parameters;
  const float* gradients;
  float* first;      // null where the rule has none
  float* second;     // likewise
  Bfloat16* narrow;  // null, or the copy of the parameters that forward and backward read
};

// One index: four elements.
template <UpdateRule rule>
struct UpdateKernel {
  UpdateBuffers buffers;
  const StepNumbers* step;

  SHARDMILL_HD void operator()(int64_t index) const {
    if (step->skip != 0) return;
    const Span<float> span(index, buffers.elements);
    Group<float> parameters = LoadGroup(buffers.parameters + span.first, span.count);
    const Group<float> gradients = LoadGroup(buffers.gradients + span.first, span.count);
    Group<float> first = {}, second = {};
    if (buffers.first != nullptr) first = LoadGroup(buffers.first + span.first, span.count);
    if (buffers.second != nullptr) second = LoadGroup(buffers.second + span.first, span.count);
    int range = RangeOf(span.first);
    ForEachIn<float>(span.count, [&](int i) {
      while (span.first + i >= buffers.ranges[range].end) ++range;
      const UpdateFactors& factors = buffers.ranges[range].decay ? step->decayed : step->plain;
      UpdateParameter<rule>(factors, gradients[i], &parameters[i], &first[i], &second[i]);
    });
    StoreGroup(parameters, span.count, buffers.parameters + span.first);
    if (buffers.first != nullptr) StoreGroup(first, span.count, buffers.first + span.first);
    if (buffers.second != nullptr) StoreGroup(second, span.count, buffers.second + span.first);
    if (buffers.narrow == nullptr) return;
    ForEachIn<float>(span.count,
                     [&](int i) { Assign(parameters[i], buffers.narrow + span.first + i); });
  }

  // The first range that ends behind `element`.
  SHARDMILL_HD int RangeOf(int64_t element) const {
    int low = 0, high = buffers.range_count - 1;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (buffers.ranges[middle].end > element) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
};

// average += share * (values - average); one index: four elements.
struct AverageKernel {
  int64_t elements;
  const StepNumbers* step;
  const float* values;
  float* average;

  SHARDMILL_HD void operator()(int64_t index) const {
    if (step->skip != 0) return;
    const Span<float> span(index, elements);
    const Group<float> loaded = LoadGroup(values + span.first, span.count);
    Group<float> moved = LoadGroup(average + span.first, span.count);
    const float share = step->average_share;
    for (int i = 0; i < Group<float>::kWidth; ++i) moved[i] += share * (loaded[i] - moved[i]);
    StoreGroup(moved, span.count, average + span.first);
  }
};

// narrow = values, for weights that were loaded; one index: one group of the narrow ones.
struct NarrowKernel {
  int64_t elements;
  const float* values;
  Bfloat16* narrow;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Span<Bfloat16> span(index, elements);
    Group<Bfloat16> group = {};
    ForEachIn<Bfloat16>(span.count, [&](int i) { group[i] = values[span.first + i]; });
    StoreGroup(group, span.count, narrow + span.first);
  }
};

}  // namespace shardmill
