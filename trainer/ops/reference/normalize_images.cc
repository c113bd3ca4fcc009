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

Status ReferenceOps::NormalizeImages(Stream&, const Shape& shape, ImageType type,
                                     const void* images, const float* mean,
                                     const float* inverse_deviation, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < shape.Elements(); ++i) {
      const int64_t c = i % shape.c;
      const double value = PixelValue(type, images, i);
      Elements<T>(y)[i] = static_cast<T>((value - mean[c]) * inverse_deviation[c]);
    }
  });
  return OkStatus();
}

}  // namespace shardmill
