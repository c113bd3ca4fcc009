#include <algorithm>
#include <array>

#include "reader/image_kernels.h"
#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"
#include "trainer/ops/onednn/period.h"

namespace shardmill {
namespace {

// Images with more channels are normalised a pixel at a time; the period of fewer fits the stack.
constexpr int64_t kMaxPeriodicChannels = 64;
constexpr int64_t kLongestPeriod = kMaxPeriodicChannels * kMaxLanes;

DType DTypeOf(ImageType type) {
  return type == ImageType::kU8 ? DType::kU8 : type == ImageType::kU16 ? DType::kU16 : DType::kF32;
}

// Elements [first, first + count) of the images, of which the first one has channel 0. The vectors
// are periodic (period.h).
struct Run {
  int64_t first = 0;
  int64_t count = 0;
};

void NormalizeRun(ImageType type, const void* images, Run run, int64_t period, const float* mean,
                  const float* factor, float* y) {
  const auto* from = static_cast<const uint8_t*>(images) + run.first * ImageTypeBytes(type);
  NormalizeValues(DTypeOf(type), from, static_cast<uint64_t>(run.count),
                  static_cast<uint64_t>(period), mean, factor, y + run.first);
}

void NormalizeWidePixels(const Shape& shape, ImageType type, const void* images, const float* mean,
                         const float* inverse_deviation, float* y) {
  ParallelRanges(shape.Pixels(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      NormalizeRun(type, images, {pixel * shape.c, shape.c}, shape.c, mean, inverse_deviation, y);
    }
  });
}

}  // namespace

Status OnednnOps::NormalizeImages(Stream&, const Shape& shape, ImageType type, const void* images,
                                  const float* mean, const float* inverse_deviation, void* y) {
  auto* normalized = static_cast<float*>(y);
  if (shape.c > kMaxPeriodicChannels) {
    NormalizeWidePixels(shape, type, images, mean, inverse_deviation, normalized);
    return OkStatus();
  }
  std::array<float, kLongestPeriod> means, factors;
  RepeatOverPeriod(
      shape.c, [&](int64_t c) { return mean[c]; }, means.data());
  RepeatOverPeriod(
      shape.c, [&](int64_t c) { return inverse_deviation[c]; }, factors.data());
  ParallelRanges(shape.Pixels(), 4096, [&](int64_t begin, int64_t end) {
    NormalizeRun(type, images, {begin * shape.c, (end - begin) * shape.c}, PeriodOf(shape.c),
                 means.data(), factors.data(), normalized);
  });
  return OkStatus();
}

}  // namespace shardmill
