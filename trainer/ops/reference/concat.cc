#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {
namespace {

template <typename T>
void WritePart(const ConcatPart& part, const Shape& whole, int64_t channel, T* y) {
  const Shape& shape = part.shape;
  for (int64_t i = 0; i < whole.Pixels() * shape.c; ++i) {
    const int64_t pixel = i / shape.c, c = i % shape.c;
    const int64_t n = pixel / whole.w / whole.h;
    const int64_t row = pixel / whole.w % whole.h, column = pixel % whole.w;
    const bool inside = row < shape.h && column < shape.w;
    y[At(whole, n, row, column, channel + c)] =
        inside ? Elements<T>(part.x)[At(shape, n, row, column, c)] : T{0};
  }
}

template <typename T>
void ReadGradient(const ConcatPart& part, const Shape& whole, int64_t channel, const T* dy) {
  const Shape& shape = part.shape;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    const int64_t pixel = i / shape.c, c = i % shape.c;
    const int64_t n = pixel / shape.w / shape.h;
    const int64_t row = pixel / shape.w % shape.h, column = pixel % shape.w;
    const bool inside = row < whole.h && column < whole.w;
    const double gradient = inside ? dy[At(whole, n, row, column, channel + c)] : 0.0;
    StoreGradient(part.mode, gradient, Elements<T>(part.dx) + i);
  }
}

}  // namespace

Status ReferenceOps::ConcatForward(Stream&, const Shape& whole, const ConcatPart* parts, int count,
                                   void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    int64_t channel = 0;
    for (int i = 0; i < count; ++i) {
      WritePart<T>(parts[i], whole, channel, Elements<T>(y));
      channel += parts[i].shape.c;
    }
  });
  return OkStatus();
}

Status ReferenceOps::ConcatBackward(Stream&, const Shape& whole, const ConcatPart* parts, int count,
                                    const void* dy) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    int64_t channel = 0;
    for (int i = 0; i < count; ++i) {
      if (parts[i].dx != nullptr) ReadGradient<T>(parts[i], whole, channel, Elements<T>(dy));
      channel += parts[i].shape.c;
    }
  });
  return OkStatus();
}

}  // namespace shardmill
