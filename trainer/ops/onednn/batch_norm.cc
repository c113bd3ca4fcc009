// Batch norm in as few passes over memory as it needs: one for the statistics (each piece is
// read twice, but from the cache), one to normalise, one for the sums of backward, one for the
// gradient. Backward derives ReLU's mask from x, so it does not read y.
#include <cmath>

#include "trainer/ops/onednn/batch_norm_kernels.h"
#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"
#include "trainer/ops/onednn/period.h"
#include "trainer/ops/onednn/pieces.h"

namespace shardmill {
namespace {

// Mean and sum of squared deviations of one piece, per channel.
void PieceStatistics(const Pieces& pieces, int64_t piece, int64_t thread, const float* x,
                     PieceWorkspace* workspace) {
  const int64_t channels = pieces.channels, period = PeriodOf(channels);
  const float* first = x + pieces.Offset(piece);
  const int64_t elements = pieces.Elements(piece);
  double* means = workspace->Partials(piece);
  float* sums = workspace->Scratch(thread, 0);
  AddPeriods(first, elements, period, sums);
  for (int64_t c = 0; c < channels; ++c) {
    means[c] = FoldPeriod(sums, channels, c) / static_cast<double>(pieces.Pixels(piece));
  }
  float* periodic_means = workspace->Scratch(thread, 1);
  RepeatOverPeriod(
      channels, [&](int64_t c) { return means[c]; }, periodic_means);
  sums = workspace->Scratch(thread, 0);
  AddSquaredDeviations(first, elements, period, periodic_means, sums);
  for (int64_t c = 0; c < channels; ++c) {
    means[channels + c] = FoldPeriod(sums, channels, c);
  }
}

// Fills the vectors of `norm` into the workspace.
PeriodicNorm MakePeriodic(const BatchNormCall& norm, PieceWorkspace* workspace) {
  const auto* mean = static_cast<const float*>(norm.mean);
  const auto* variance = static_cast<const float*>(norm.variance);
  const auto* scale = static_cast<const float*>(norm.scale);
  const auto* shift = static_cast<const float*>(norm.shift);
  const int64_t channels = norm.shape.c;
  const auto factor = [&](int64_t c) { return scale[c] / std::sqrt(variance[c] + norm.epsilon); };
  RepeatOverPeriod(
      channels, [&](int64_t c) { return mean[c]; }, workspace->Vector(0));
  RepeatOverPeriod(channels, factor, workspace->Vector(1));
  RepeatOverPeriod(
      channels, [&](int64_t c) { return shift[c]; }, workspace->Vector(2));
  return {PeriodOf(channels), norm.activation, workspace->Vector(0), workspace->Vector(1),
          workspace->Vector(2)};
}

// Combines pieces by the identity of Chan, Golub and LeVeque: the deviations from the common mean
// are those from the piece's own mean plus those of the means.
void CombineStatistics(const Pieces& pieces, PieceWorkspace* workspace, int64_t channel,
                       float* mean, float* variance) {
  const double total = static_cast<double>(pieces.pixels);
  double sum = 0;
  for (int64_t p = 0; p < pieces.count; ++p) {
    sum += workspace->Partials(p)[channel] * static_cast<double>(pieces.Pixels(p));
  }
  double squares = 0;
  for (int64_t p = 0; p < pieces.count; ++p) {
    const double difference = workspace->Partials(p)[channel] - sum / total;
    squares += workspace->Partials(p)[pieces.channels + channel] +
               difference * difference * static_cast<double>(pieces.Pixels(p));
  }
  *mean = static_cast<float>(sum / total);
  *variance = static_cast<float>(squares / total);
}

}  // namespace

int64_t OnednnOps::BatchNormWorkspaceBytes(const Shape& shape) const {
  return PieceWorkspace::Bytes(shape);
}

Status OnednnOps::BatchNormStatistics(Stream&, const Shape& shape, const void* x, void* mean,
                                      void* variance, void* memory) {
  const Pieces pieces(shape);
  PieceWorkspace workspace(shape, memory);
  ParallelFor(pieces.count, [&](int64_t piece, int64_t thread) {
    PieceStatistics(pieces, piece, thread, static_cast<const float*>(x), &workspace);
  });
  for (int64_t c = 0; c < shape.c; ++c) {
    CombineStatistics(pieces, &workspace, c, static_cast<float*>(mean) + c,
                      static_cast<float*>(variance) + c);
  }
  return OkStatus();
}

Status OnednnOps::BatchNormUpdateRunning(Stream&, int64_t channels, int64_t pixels, double momentum,
                                         const void* mean, const void* variance, void* running_mean,
                                         void* running_variance) {
  const double unbias = pixels > 1 ? static_cast<double>(pixels) / (pixels - 1) : 1.0;
  const auto update = [&](float* running, double batch) {
    *running = static_cast<float>(*running + momentum * (batch - *running));
  };
  for (int64_t c = 0; c < channels; ++c) {
    update(static_cast<float*>(running_mean) + c, static_cast<const float*>(mean)[c]);
    update(static_cast<float*>(running_variance) + c,
           static_cast<const float*>(variance)[c] * unbias);
  }
  return OkStatus();
}

Status OnednnOps::BatchNormForward(Stream&, const BatchNormCall& norm, void* y) {
  const Pieces pieces(norm.shape);
  PieceWorkspace workspace(norm.shape, norm.workspace);
  const PeriodicNorm periodic = MakePeriodic(norm, &workspace);
  ParallelFor(pieces.count, [&](int64_t piece, int64_t) {
    const int64_t offset = pieces.Offset(piece);
    NormalizePeriods(periodic, static_cast<const float*>(norm.x) + offset, pieces.Elements(piece),
                     static_cast<float*>(y) + offset);
  });
  return OkStatus();
}

Status OnednnOps::BatchNormBackwardSums(Stream&, const BatchNormCall& norm, const void*,
                                        const void* dy, void* dscale, void* dshift) {
  const Pieces pieces(norm.shape);
  PieceWorkspace workspace(norm.shape, norm.workspace);
  const PeriodicNorm periodic = MakePeriodic(norm, &workspace);
  const int64_t channels = norm.shape.c;
  ParallelFor(pieces.count, [&](int64_t piece, int64_t thread) {
    const int64_t offset = pieces.Offset(piece);
    float* gradients = workspace.Scratch(thread, 0);
    float* products = workspace.Scratch(thread, 1);
    AddGradients(periodic, static_cast<const float*>(norm.x) + offset,
                 static_cast<const float*>(dy) + offset, pieces.Elements(piece), gradients,
                 products);
    for (int64_t c = 0; c < channels; ++c) {
      workspace.Partials(piece)[c] = FoldPeriod(gradients, channels, c);
      workspace.Partials(piece)[channels + c] = FoldPeriod(products, channels, c);
    }
  });
  const auto* variance = static_cast<const float*>(norm.variance);
  for (int64_t c = 0; c < channels; ++c) {
    double gradients = 0, products = 0;
    for (int64_t piece = 0; piece < pieces.count; ++piece) {
      gradients += workspace.Partials(piece)[c];
      products += workspace.Partials(piece)[channels + c];
    }
    static_cast<float*>(dshift)[c] = static_cast<float>(gradients);
    static_cast<float*>(dscale)[c] =
        static_cast<float>(products / std::sqrt(variance[c] + norm.epsilon));
  }
  return OkStatus();
}

Status OnednnOps::BatchNormBackwardData(Stream&, const BatchNormCall& norm,
                                        const BatchNormSums& sums, const void*, const void* dy,
                                        void* dx) {
  const Pieces pieces(norm.shape);
  PieceWorkspace workspace(norm.shape, norm.workspace);
  const PeriodicNorm periodic = MakePeriodic(norm, &workspace);
  const auto* variance = static_cast<const float*>(norm.variance);
  const double pixels = static_cast<double>(sums.pixels);
  const auto constant = [&](int64_t c) {
    return periodic.factor[c] * static_cast<const float*>(sums.dshift)[c] / pixels;
  };
  const auto slope = [&](int64_t c) {
    return periodic.factor[c] * static_cast<const float*>(sums.dscale)[c] / pixels /
           std::sqrt(variance[c] + norm.epsilon);
  };
  RepeatOverPeriod(norm.shape.c, constant, workspace.Vector(3));
  RepeatOverPeriod(norm.shape.c, slope, workspace.Vector(4));
  ParallelFor(pieces.count, [&](int64_t piece, int64_t) {
    const int64_t offset = pieces.Offset(piece);
    GradientOfInput(periodic, workspace.Vector(3), workspace.Vector(4),
                    static_cast<const float*>(norm.x) + offset,
                    static_cast<const float*>(dy) + offset, pieces.Elements(piece),
                    static_cast<float*>(dx) + offset);
  });
  return OkStatus();
}

}  // namespace shardmill
