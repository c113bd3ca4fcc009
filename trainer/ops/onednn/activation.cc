#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"

namespace shardmill {
namespace {

constexpr int64_t kSmallestPiece = 1 << 14;

}  // namespace

Status OnednnOps::ReluForward(Stream&, int64_t elements, const void* x, void* y) {
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<float*>(y);
  ParallelRanges(elements, kSmallestPiece, [&](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) to[i] = from[i] > 0 ? from[i] : 0.0f;
  });
  return OkStatus();
}

Status OnednnOps::ReluBackward(Stream&, int64_t elements, const void* y, const void* dy, void* dx) {
  const auto* value = static_cast<const float*>(y);
  const auto* from = static_cast<const float*>(dy);
  auto* to = static_cast<float*>(dx);
  ParallelRanges(elements, kSmallestPiece, [&](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) to[i] = value[i] > 0 ? from[i] : 0.0f;
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
