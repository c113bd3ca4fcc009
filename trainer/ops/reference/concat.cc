#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {

Status ReferenceOps::ConcatForward(Stream&, const Shape& part, const Shape& whole, int64_t channel,
                                   const void* x, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < whole.Pixels() * part.c; ++i) {
      const int64_t pixel = i / part.c;
      const int64_t n = pixel / whole.w / whole.h;
      const int64_t row = pixel / whole.w % whole.h;
      const int64_t column = pixel % whole.w;
      const bool inside = row < part.h && column < part.w;
      Elements<T>(y)[At(whole, n, row, column, channel + i % part.c)] =
          inside ? Elements<T>(x)[At(part, n, row, column, i % part.c)] : zero;
    }
  });
  return OkStatus();
}

Status ReferenceOps::ConcatBackward(Stream&, const Shape& part, const Shape& whole, int64_t channel,
                                    const void* dy, GradientMode mode, void* dx) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < part.Elements(); ++i) {
      const int64_t pixel = i / part.c;
      const int64_t n = pixel / part.w / part.h;
      const int64_t row = pixel / part.w % part.h;
      const int64_t column = pixel % part.w;
      const bool inside = row < whole.h && column < whole.w;
      const int64_t source = At(whole, n, row, column, channel + i % part.c);
      StoreGradient(mode, inside ? Elements<T>(dy)[source] : 0.0, Elements<T>(dx) + i);
    }
  });
  return OkStatus();
}

}  // namespace shardmill
