#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"
#include "trainer/ops/onednn/period.h"
#include "trainer/ops/onednn/pieces.h"

namespace shardmill {

int64_t OnednnOps::PreluWorkspaceBytes(const Shape& shape) const {
  return PieceWorkspace::Bytes(shape);
}

Status OnednnOps::PreluForward(Stream&, const Shape& shape, const void* x, const void* slopes,
                               void* y) {
  const Pieces pieces(shape);
  const auto* slope = static_cast<const float*>(slopes);
  ParallelFor(pieces.count, [&](int64_t piece, int64_t) {
    const float* from = static_cast<const float*>(x) + pieces.Offset(piece);
    float* to = static_cast<float*>(y) + pieces.Offset(piece);
    for (int64_t p = 0; p < pieces.Pixels(piece); ++p, from += shape.c, to += shape.c) {
#pragma omp simd
      for (int64_t c = 0; c < shape.c; ++c) to[c] = from[c] > 0 ? from[c] : slope[c] * from[c];
    }
  });
  return OkStatus();
}

Status OnednnOps::PreluBackward(Stream&, const Shape& shape, const void* x, const void* slopes,
                                const void* dy, void* dx, void* dslopes, void* memory) {
  const Pieces pieces(shape);
  PieceWorkspace workspace(shape, memory);
  const auto* slope = static_cast<const float*>(slopes);
  ParallelFor(pieces.count, [&](int64_t piece, int64_t thread) {
    const float* value = static_cast<const float*>(x) + pieces.Offset(piece);
    const float* from = static_cast<const float*>(dy) + pieces.Offset(piece);
    float* to = dx == nullptr ? nullptr : static_cast<float*>(dx) + pieces.Offset(piece);
    const int64_t elements = pieces.Elements(piece), period = PeriodOf(shape.c);
    float* sums = workspace.Scratch(thread, 0);
    for (int64_t start = 0; start < elements; start += period) {
      const int64_t count = std::min(period, elements - start);
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        sums[i] += value[start + i] > 0 ? 0.0f : from[start + i] * value[start + i];
      }
    }
    for (int64_t c = 0; c < shape.c; ++c) {
      workspace.Partials(piece)[c] = FoldPeriod(sums, shape.c, c);
    }
    for (int64_t i = 0; i < elements && to != nullptr; i += shape.c) {
#pragma omp simd
      for (int64_t c = 0; c < shape.c; ++c) {
        to[i + c] = value[i + c] > 0 ? from[i + c] : slope[c] * from[i + c];
      }
    }
  });
  for (int64_t c = 0; c < shape.c; ++c) {
    double sum = 0;
    for (int64_t piece = 0; piece < pieces.count; ++piece) sum += workspace.Partials(piece)[c];
    static_cast<float*>(dslopes)[c] = static_cast<float>(sum);
  }
  return OkStatus();
}

}  // namespace shardmill
