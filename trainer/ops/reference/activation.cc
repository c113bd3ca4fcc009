#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {

Status ReferenceOps::ReluForward(Stream&, int64_t elements, const void* x, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < elements; ++i) {
      Elements<T>(y)[i] = Elements<T>(x)[i] > 0 ? Elements<T>(x)[i] : T{0};
    }
  });
  return OkStatus();
}

Status ReferenceOps::ReluBackward(Stream&, int64_t elements, const void* y, const void* dy,
                                  void* dx) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < elements; ++i) {
      Elements<T>(dx)[i] = Elements<T>(y)[i] > 0 ? Elements<T>(dy)[i] : T{0};
    }
  });
  return OkStatus();
}

Status ReferenceOps::Add(Stream&, int64_t elements, const void* x, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < elements; ++i) Elements<T>(y)[i] += Elements<T>(x)[i];
  });
  return OkStatus();
}

}  // namespace shardmill
