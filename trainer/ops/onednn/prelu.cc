// Written without branches: about half of the values are above zero, in no order that a processor
// could foresee.
#include <algorithm>
#include <array>

#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"
#include "trainer/ops/onednn/period.h"
#include "trainer/ops/onednn/pieces.h"

namespace shardmill {
namespace {

constexpr int64_t kFewChannels = 32;
constexpr int64_t kLongestPeriod = 512;  // of few channels: 16 × 31 at most

// The slopes laid out for runs of elements that are long enough for vector code: a whole period of
// few channels, or one pixel of many.
struct SlopeRuns {
  SlopeRuns(int64_t channels, const float* given) : slopes(given), length(channels) {
    if (channels > kFewChannels) return;
    length = PeriodOf(channels);
    RepeatOverPeriod(
        channels, [&](int64_t c) { return given[c]; }, periodic.data());
    slopes = periodic.data();
  }
  SlopeRuns(const SlopeRuns&) = delete;
  SlopeRuns& operator=(const SlopeRuns&) = delete;

  const float* slopes;
  int64_t length;
  std::array<float, kLongestPeriod> periodic;
};

void ForwardRun(const float* __restrict x, const float* __restrict slopes, int64_t count,
                float* __restrict y) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const float above = x[i] > 0 ? x[i] : 0.0f, below = x[i] > 0 ? 0.0f : x[i];
    y[i] = above + slopes[i] * below;
  }
}

// `dx` may be `dy`.
void BackwardRun(const float* x, const float* slopes, const float* dy, int64_t count, float* dx) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = dy[i];  // read in any case, so that there is no jump
    const float above = x[i] > 0 ? gradient : 0.0f, below = x[i] > 0 ? 0.0f : gradient;
    dx[i] = above + slopes[i] * below;
  }
}

void AddSlopeGradients(const float* x, const float* dy, int64_t count, float* __restrict sums) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) sums[i] += dy[i] * (x[i] > 0 ? 0.0f : x[i]);
}

}  // namespace

int64_t OnednnOps::PreluWorkspaceBytes(const Shape& shape) const {
  return PieceWorkspace::Bytes(shape);
}

Status OnednnOps::PreluForward(Stream&, const Shape& shape, const void* x, const void* slopes,
                               void* y) {
  const Pieces pieces(shape);
  const SlopeRuns runs(shape.c, static_cast<const float*>(slopes));
  ParallelFor(pieces.count, [&](int64_t piece, int64_t) {
    const float* from = static_cast<const float*>(x) + pieces.Offset(piece);
    float* to = static_cast<float*>(y) + pieces.Offset(piece);
    const int64_t elements = pieces.Elements(piece);
    for (int64_t i = 0; i < elements; i += runs.length) {
      ForwardRun(from + i, runs.slopes, std::min(runs.length, elements - i), to + i);
    }
  });
  return OkStatus();
}

Status OnednnOps::PreluBackward(Stream&, const Shape& shape, const void* x, const void* slopes,
                                const void* dy, void* dx, void* dslopes, void* memory) {
  const Pieces pieces(shape);
  PieceWorkspace workspace(shape, memory);
  const SlopeRuns runs(shape.c, static_cast<const float*>(slopes));
  ParallelFor(pieces.count, [&](int64_t piece, int64_t thread) {
    const float* value = static_cast<const float*>(x) + pieces.Offset(piece);
    const float* from = static_cast<const float*>(dy) + pieces.Offset(piece);
    const int64_t elements = pieces.Elements(piece), period = PeriodOf(shape.c);
    float* sums = workspace.Scratch(thread, 0);
    for (int64_t i = 0; i < elements; i += period) {
      AddSlopeGradients(value + i, from + i, std::min(period, elements - i), sums);
    }
    for (int64_t c = 0; c < shape.c; ++c) {
      workspace.Partials(piece)[c] = FoldPeriod(sums, shape.c, c);
    }
    if (dx == nullptr) return;
    float* to = static_cast<float*>(dx) + pieces.Offset(piece);
    for (int64_t i = 0; i < elements; i += runs.length) {
      BackwardRun(value + i, runs.slopes, from + i, std::min(runs.length, elements - i), to + i);
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
