// Comparison of tensors with named tolerances.
//
// A sum of products in f32 is judged against the sum of the products' absolute values: rounding
// errors grow with those, not with a result in which they cancel.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace shardmill {

// f32 sums of products, in any order, of up to some 100,000 terms.
constexpr double kSumTolerance = 1e-5;
// The same of factors that were rounded to bf16: each is off by up to 2^-8.
constexpr double kBf16SumTolerance = 8e-3;
// A few f32 operations per element.
constexpr double kElementTolerance = 2e-6;
// Elements that pass through per-channel sums: f32 sums of a batch, then a few operations.
constexpr double kNormTolerance = 2e-5;
// exp and log of the vector code.
constexpr double kSoftmaxTolerance = 2e-6;

// Results that were rounded to bf16 twice.
constexpr double kBfloat16Tolerance = 0x1p-8;

// |actual - expected| <= tolerance * (1 + |expected|) for every element.
template <typename A, typename E>
testing::AssertionResult TensorNear(const std::vector<A>& actual, const std::vector<E>& expected,
                                    double tolerance) {
  if (actual.size() != expected.size()) {
    return testing::AssertionFailure() << actual.size() << " elements, not " << expected.size();
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(static_cast<double>(actual[i]) - expected[i]);
    // Written so that NaN fails.
    if (error <= tolerance * (1 + std::abs(static_cast<double>(expected[i])))) continue;
    return testing::AssertionFailure() << "element " << i << " of " << actual.size() << " is "
                                       << actual[i] << ", not " << expected[i];
  }
  return testing::AssertionSuccess();
}

// |actual - expected| <= tolerance * magnitude + 1e-30 for every element; `magnitudes` are the
// sums of absolute values.
template <typename A, typename E>
testing::AssertionResult SumsNear(const std::vector<A>& actual, const std::vector<E>& expected,
                                  const std::vector<E>& magnitudes, double tolerance) {
  if (actual.size() != expected.size() || actual.size() != magnitudes.size()) {
    return testing::AssertionFailure() << actual.size() << " elements, not " << expected.size();
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(static_cast<double>(actual[i]) - expected[i]);
    if (error <= tolerance * magnitudes[i] + 1e-30) continue;
    return testing::AssertionFailure()
           << "element " << i << " of " << actual.size() << " is " << actual[i] << ", not "
           << expected[i] << " (terms add to " << magnitudes[i] << ")";
  }
  return testing::AssertionSuccess();
}

}  // namespace shardmill
