#include <algorithm>

#include "trainer/graph/counter_random.h"
#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {

Status ReferenceOps::ActivationForward(Stream&, Activation activation, int64_t elements,
                                       const void* x, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < elements; ++i) {
      const double value = Elements<T>(x)[i];
      const double held = std::min(std::max(0.0, value), ActivationCeiling(activation));
      Elements<T>(y)[i] = static_cast<T>(activation == Activation::kNone ? value : held);
    }
  });
  return OkStatus();
}

Status ReferenceOps::ActivationBackward(Stream&, Activation activation, int64_t elements,
                                        const void* y, const void* dy, void* dx) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < elements; ++i) {
      const bool passes =
          activation == Activation::kNone ||
          (Elements<T>(y)[i] > 0 && Elements<T>(y)[i] < ActivationCeiling(activation));
      Elements<T>(dx)[i] = passes ? Elements<T>(dy)[i] : T{0};
    }
  });
  return OkStatus();
}

Status ReferenceOps::PreluForward(Stream&, const Shape& shape, const void* x, const void* slopes,
                                  void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < shape.Elements(); ++i) {
      const double value = Elements<T>(x)[i], slope = Elements<T>(slopes)[i % shape.c];
      Elements<T>(y)[i] = static_cast<T>(value > 0 ? value : slope * value);
    }
  });
  return OkStatus();
}

Status ReferenceOps::PreluBackward(Stream&, const Shape& shape, const void* x, const void* slopes,
                                   const void* dy, void* dx, void* dslopes, void*) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t c = 0; c < shape.c; ++c) {
      double sum = 0;
      for (int64_t i = c; i < shape.Elements(); i += shape.c) {
        const double value = Elements<T>(x)[i], gradient = Elements<T>(dy)[i];
        if (!(value > 0)) sum += gradient * value;
        const double slope = value > 0 ? 1.0 : Elements<T>(slopes)[c];
        if (dx != nullptr) Elements<T>(dx)[i] = static_cast<T>(gradient * slope);
      }
      Elements<T>(dslopes)[c] = static_cast<T>(sum);
    }
  });
  return OkStatus();
}

Status ReferenceOps::Dropout(Stream&, const DropoutCall& dropout, const void* x, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    const Shape& shape = dropout.shape;
    for (int64_t i = 0; i < shape.Elements(); ++i) {
      const int64_t row = dropout.first_row + i / (shape.h * shape.w * shape.c);
      const int64_t in_row = i % (shape.h * shape.w * shape.c);
      const int64_t place = dropout.whole_channels ? row * shape.c + i % shape.c
                                                   : row * shape.h * shape.w * shape.c + in_row;
      const bool kept = CounterBits(dropout.key, static_cast<uint64_t>(place)) >> 32 >=
                        static_cast<uint64_t>(dropout.drop * 0x1p32);
      const double value = Elements<T>(x)[i] / (1 - dropout.drop);
      Elements<T>(y)[i] = static_cast<T>(kept ? value : 0);
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
