#include <algorithm>
#include <array>

#include "trainer/graph/counter_random.h"
#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"

namespace shardmill {
namespace {

constexpr int64_t kBlock = 128;  // elements whose factors are held at once

// What the elements at `count` consecutive places are multiplied by.
void FillFactors(const DropoutCall& dropout, int64_t place, int64_t count, float* factors) {
  const auto threshold = static_cast<uint64_t>(dropout.drop * 0x1p32);
  const auto kept = static_cast<float>(1 / (1 - dropout.drop));
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = CounterBits(dropout.key, static_cast<uint64_t>(place + i)) >> 32;
    factors[i] = bits >= threshold ? kept : 0.0f;
  }
}

void DropElements(const DropoutCall& dropout, const float* x, float* y) {
  const Shape& shape = dropout.shape;
  const int64_t first = dropout.first_row * shape.h * shape.w * shape.c;
  ParallelRanges(shape.Elements(), 1 << 12, [&](int64_t begin, int64_t end) {
    std::array<float, kBlock> factors;
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t count = std::min(kBlock, end - at);
      FillFactors(dropout, first + at, count, factors.data());
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) y[at + i] = x[at + i] * factors[i];
    }
  });
}

void DropChannels(const DropoutCall& dropout, const float* x, float* y) {
  const Shape& shape = dropout.shape;
  const int64_t pixels = shape.h * shape.w;
  ParallelFor(shape.n, [&](int64_t n, int64_t) {
    std::array<float, kBlock> factors;
    for (int64_t c = 0; c < shape.c; c += kBlock) {
      const int64_t count = std::min(kBlock, shape.c - c);
      FillFactors(dropout, (dropout.first_row + n) * shape.c + c, count, factors.data());
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t at = (n * pixels + p) * shape.c + c;
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) y[at + i] = x[at + i] * factors[i];
      }
    }
  });
}

}  // namespace

Status OnednnOps::Dropout(Stream&, const DropoutCall& dropout, const void* x, void* y) {
  const auto drop = dropout.whole_channels ? DropChannels : DropElements;
  drop(dropout, static_cast<const float*>(x), static_cast<float*>(y));
  return OkStatus();
}

}  // namespace shardmill
