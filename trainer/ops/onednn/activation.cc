#include <algorithm>

#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"

namespace shardmill {
namespace {

constexpr int64_t kSmallestPiece = 1 << 14;

}  // namespace

Status OnednnOps::ActivationForward(Stream&, Activation activation, int64_t elements, const void* x,
                                    void* y) {
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<float*>(y);
  const auto ceiling = static_cast<float>(ActivationCeiling(activation));
  ParallelRanges(elements, kSmallestPiece, [&](int64_t begin, int64_t end) {
    if (activation == Activation::kNone) {
      if (from != to) std::copy(from + begin, from + end, to + begin);
      return;
    }
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      const float value = from[i] > 0 ? from[i] : 0.0f;
      to[i] = value < ceiling ? value : ceiling;
    }
  });
  return OkStatus();
}

Status OnednnOps::ActivationBackward(Stream&, Activation activation, int64_t elements,
                                     const void* y, const void* dy, void* dx) {
  const auto* value = static_cast<const float*>(y);
  const auto* from = static_cast<const float*>(dy);
  auto* to = static_cast<float*>(dx);
  const auto ceiling = static_cast<float>(ActivationCeiling(activation));
  ParallelRanges(elements, kSmallestPiece, [&](int64_t begin, int64_t end) {
    if (activation == Activation::kNone) {
      if (from != to) std::copy(from + begin, from + end, to + begin);
      return;
    }
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      // Read in any case: a condition on the read would become a jump, and be mispredicted.
      const float gradient = from[i];
      to[i] = (value[i] > 0) & (value[i] < ceiling) ? gradient : 0.0f;
    }
  });
  return OkStatus();
}

Status OnednnOps::Add(Stream&, int64_t elements, const void* x, void* y) {
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<float*>(y);
  ParallelRanges(elements, kSmallestPiece, [&](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) to[i] += from[i];
  });
  return OkStatus();
}

}  // namespace shardmill
