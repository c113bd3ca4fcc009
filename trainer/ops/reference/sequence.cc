#include <cmath>

#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {
namespace {

int64_t FramesOf(const Shape& shape, const int32_t* lengths, int64_t n) {
  return lengths == nullptr ? shape.w : lengths[n];
}

}  // namespace

Status ReferenceOps::StatisticsPoolForward(Stream&, const Shape& shape, const int32_t* lengths,
                                           const void* x, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < shape.n * shape.c; ++i) {
      const int64_t n = i / shape.c, c = i % shape.c, frames = FramesOf(shape, lengths, n);
      double sum = 0, squares = 0;
      for (int64_t t = 0; t < frames; ++t) sum += Elements<T>(x)[At(shape, n, 0, t, c)];
      const double mean = sum / static_cast<double>(frames);
      for (int64_t t = 0; t < frames; ++t) {
        const double deviation = Elements<T>(x)[At(shape, n, 0, t, c)] - mean;
        squares += deviation * deviation;
      }
      const double variance = squares / static_cast<double>(frames);
      Elements<T>(y)[n * 2 * shape.c + c] = static_cast<T>(mean);
      Elements<T>(y)[n * 2 * shape.c + shape.c + c] =
          static_cast<T>(std::sqrt(variance + kStatisticsEpsilon));
    }
  });
  return OkStatus();
}

Status ReferenceOps::StatisticsPoolBackward(Stream&, const Shape& shape, const int32_t* lengths,
                                            const void* x, const void* y, const void* dy,
                                            GradientMode mode, void* dx) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < shape.Elements(); ++i) {
      const int64_t n = i / shape.c / shape.w, t = i / shape.c % shape.w, c = i % shape.c;
      const int64_t of_mean = n * 2 * shape.c + c, of_deviation = of_mean + shape.c;
      const int64_t frames = FramesOf(shape, lengths, n);
      const double slope = (Elements<T>(x)[i] - Elements<T>(y)[of_mean]) /
                           static_cast<double>(Elements<T>(y)[of_deviation]);
      const double gradient = (Elements<T>(dy)[of_mean] + Elements<T>(dy)[of_deviation] * slope) /
                              static_cast<double>(frames);
      StoreGradient(mode, t < frames ? gradient : 0.0, Elements<T>(dx) + i);
    }
  });
  return OkStatus();
}

Status ReferenceOps::ZeroPadding(Stream&, const Shape& shape, const int32_t* lengths, void* x) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < shape.Elements(); ++i) {
      const int64_t n = i / shape.c / shape.w, t = i / shape.c % shape.w;
      if (t >= FramesOf(shape, lengths, n)) Elements<T>(x)[i] = 0;
    }
  });
  return OkStatus();
}

}  // namespace shardmill
