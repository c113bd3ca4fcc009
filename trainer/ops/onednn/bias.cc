#include "trainer/ops/onednn/bias.h"

#include "trainer/ops/onednn/batch_norm_kernels.h"
#include "trainer/ops/onednn/parallel.h"
#include "trainer/ops/onednn/period.h"
#include "trainer/ops/onednn/pieces.h"

namespace shardmill {

int64_t BiasWorkspaceBytes(const Shape& shape) { return PieceWorkspace::Bytes(shape); }

void AddBias(const Shape& shape, Activation activation, const float* bias, float* y, void* memory) {
  const Pieces pieces(shape);
  PieceWorkspace workspace(shape, memory);
  RepeatOverPeriod(
      shape.c, [](int64_t) { return 0.0f; }, workspace.Vector(0));
  RepeatOverPeriod(
      shape.c, [](int64_t) { return 1.0f; }, workspace.Vector(1));
  RepeatOverPeriod(
      shape.c, [&](int64_t c) { return bias == nullptr ? 0.0f : bias[c]; }, workspace.Vector(2));
  const PeriodicNorm add = {PeriodOf(shape.c), activation, workspace.Vector(0), workspace.Vector(1),
                            workspace.Vector(2)};
  ParallelFor(pieces.count, [&](int64_t piece, int64_t) {
    float* first = y + pieces.Offset(piece);
    NormalizePeriods(add, first, pieces.Elements(piece), first);
  });
}

void SumToBias(const Shape& shape, const float* dy, float* dbias, void* memory) {
  const Pieces pieces(shape);
  PieceWorkspace workspace(shape, memory);
  ParallelFor(pieces.count, [&](int64_t piece, int64_t thread) {
    float* sums = workspace.Scratch(thread, 0);
    AddPeriods(dy + pieces.Offset(piece), pieces.Elements(piece), PeriodOf(shape.c), sums);
    for (int64_t c = 0; c < shape.c; ++c) {
      workspace.Partials(piece)[c] = FoldPeriod(sums, shape.c, c);
    }
  });
  for (int64_t c = 0; c < shape.c; ++c) {
    double sum = 0;
    for (int64_t piece = 0; piece < pieces.count; ++piece) sum += workspace.Partials(piece)[c];
    dbias[c] = static_cast<float>(sum);
  }
}

}  // namespace shardmill
