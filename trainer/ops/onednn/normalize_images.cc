#include <algorithm>
#include <array>

#include "trainer/ops/onednn/normalize_kernels.h"
#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"
#include "trainer/ops/onednn/period.h"

namespace shardmill {
namespace {

// Images with more channels are normalised a pixel at a time; the period of fewer fits the stack.
constexpr int64_t kMaxPeriodicChannels = 64;
constexpr int64_t kLongestPeriod = kMaxPeriodicChannels * kMaxLanes;

const void* Address(ImageType type, const void* images, int64_t element) {
  return static_cast<const char*>(images) + element * ImageTypeBytes(type);
}

void NormalizeWidePixels(const Shape& shape, ImageType type, const void* images, const float* mean,
                         const float* inverse_deviation, float* y) {
  ParallelRanges(shape.Pixels(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      const int64_t first = pixel * shape.c;
      NormalizePixels(type, Address(type, images, first), shape.c, shape.c, mean, inverse_deviation,
                      y + first);
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
    NormalizePixels(type, Address(type, images, begin * shape.c), (end - begin) * shape.c,
                    PeriodOf(shape.c), means.data(), factors.data(), normalized + begin * shape.c);
  });
  return OkStatus();
}

}  // namespace shardmill
