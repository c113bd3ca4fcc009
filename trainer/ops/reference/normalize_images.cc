#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {
namespace {

double PixelValue(ImageType type, const void* images, int64_t at) {
  if (type == ImageType::kU8) return Elements<uint8_t>(images)[at];
  if (type == ImageType::kU16) return Elements<uint16_t>(images)[at];
  return Elements<float>(images)[at];
}

}  // namespace

Status ReferenceOps::NormalizeImages(Stream& stream, const Shape& shape, ImageType type,
                                     const void* images, const float* mean,
                                     const float* inverse_deviation, void* y) {
  return NormalizePaddedImages(stream, shape, type, images, mean, inverse_deviation, shape.c, y);
}

Status ReferenceOps::NormalizePaddedImages(Stream&, const Shape& shape, ImageType type,
                                           const void* images, const float* mean,
                                           const float* inverse_deviation, int64_t channels,
                                           void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < shape.Pixels() * channels; ++i) {
      const int64_t c = i % channels;
      T* const value = Elements<T>(y) + i;
      *value = 0;
      if (c >= shape.c) continue;
      const double stored = PixelValue(type, images, i / channels * shape.c + c);
      *value = static_cast<T>((stored - mean[c]) * inverse_deviation[c]);
    }
  });
  return OkStatus();
}

}  // namespace shardmill
