#include <algorithm>
#include <cmath>

#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"

namespace shardmill {
namespace {

constexpr int64_t kChannelBlock = 64;

int64_t FramesOf(const Shape& shape, const int32_t* lengths, int64_t n) {
  return lengths == nullptr ? shape.w : lengths[n];
}

// Mean and deviation of up to kChannelBlock channels of one sequence.
void Summarize(const float* x, int64_t frames, int64_t stride, int64_t channels, float* mean,
               float* deviation) {
  double sums[kChannelBlock] = {}, squares[kChannelBlock] = {};
  const auto count = static_cast<double>(frames);
  for (int64_t t = 0; t < frames; ++t) {
    for (int64_t c = 0; c < channels; ++c) sums[c] += x[t * stride + c];
  }
  for (int64_t c = 0; c < channels; ++c) sums[c] /= count;
  for (int64_t t = 0; t < frames; ++t) {
    for (int64_t c = 0; c < channels; ++c) {
      const double difference = x[t * stride + c] - sums[c];
      squares[c] += difference * difference;
    }
  }
  for (int64_t c = 0; c < channels; ++c) {
    mean[c] = static_cast<float>(sums[c]);
    deviation[c] = static_cast<float>(std::sqrt(squares[c] / count + OpTable::kStatisticsEpsilon));
  }
}

}  // namespace

Status OnednnOps::StatisticsPoolForward(Stream&, const Shape& shape, const int32_t* lengths,
                                        const void* x, void* y) {
  const int64_t blocks = (shape.c + kChannelBlock - 1) / kChannelBlock;
  ParallelFor(shape.n * blocks, [&](int64_t item, int64_t) {
    const int64_t n = item / blocks, c = item % blocks * kChannelBlock;
    float* mean = static_cast<float*>(y) + n * 2 * shape.c + c;
    Summarize(static_cast<const float*>(x) + n * shape.w * shape.c + c, FramesOf(shape, lengths, n),
              shape.c, std::min(kChannelBlock, shape.c - c), mean, mean + shape.c);
  });
  return OkStatus();
}

Status OnednnOps::StatisticsPoolBackward(Stream&, const Shape& shape, const int32_t* lengths,
                                         const void* x, const void* y, const void* dy,
                                         GradientMode mode, void* dx) {
  ParallelFor(shape.n * shape.w, [&](int64_t line, int64_t) {
    const int64_t n = line / shape.w, frames = FramesOf(shape, lengths, n);
    const float* value = static_cast<const float*>(x) + line * shape.c;
    float* to = static_cast<float*>(dx) + line * shape.c;
    if (line % shape.w >= frames) {
      if (mode == GradientMode::kOverwrite) std::fill_n(to, shape.c, 0.0f);
      return;
    }
    const float* mean = static_cast<const float*>(y) + n * 2 * shape.c;
    const float* dmean = static_cast<const float*>(dy) + n * 2 * shape.c;
    const float *deviation = mean + shape.c, *ddeviation = dmean + shape.c;
    const float share = 1.0f / static_cast<float>(frames);
    const bool add = mode == GradientMode::kAdd;
#pragma omp simd
    for (int64_t c = 0; c < shape.c; ++c) {
      const float gradient =
          (dmean[c] + ddeviation[c] * (value[c] - mean[c]) / deviation[c]) * share;
      to[c] = add ? to[c] + gradient : gradient;
    }
  });
  return OkStatus();
}

Status OnednnOps::ZeroPadding(Stream&, const Shape& shape, const int32_t* lengths, void* x) {
  if (lengths == nullptr) return OkStatus();
  for (int64_t n = 0; n < shape.n; ++n) {
    float* row = static_cast<float*>(x) + n * shape.w * shape.c;
    std::fill(row + lengths[n] * shape.c, row + shape.w * shape.c, 0.0f);
  }
  return OkStatus();
}

}  // namespace shardmill
