// Runs every operation of an op table on random tensors of one shape. All tensors lie in the memory
// of the table and have its element type, so that any table can be put beside any other: of
// another memory, of another type, of another order of the indices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/ops/op_table.h"

namespace shardmill {

enum class SuiteLabels { kSome, kAllIgnored };

struct SuiteResult {
  std::string name;
  std::vector<float> values;
};

// The inputs are a function of the arguments, and numbers that bf16 holds exactly. Where the
// gradient of an operation needs what its forward pass made, that is an input too.
std::vector<SuiteResult> RunOperations(OpTable* ops, const Shape& shape, SuiteLabels labels);

void ExpectSameBits(const std::vector<SuiteResult>& actual,
                    const std::vector<SuiteResult>& expected);
// Whether all results are near: each value within tolerance times (its size + the root of the mean
// square of its tensor).
void ExpectNearResults(const std::vector<SuiteResult>& actual,
                       const std::vector<SuiteResult>& expected, double tolerance);

}  // namespace shardmill
