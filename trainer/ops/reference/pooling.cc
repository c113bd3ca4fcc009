#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {
namespace {

// Position in the input of tap `index` of the window of one output element; -1 in the padding.
int64_t TapPosition(const PoolShape& shape, int64_t n, int64_t y, int64_t x, int64_t c,
                    int64_t index) {
  const Window& window = shape.window;
  const int64_t input_y = y * window.stride_h - window.pad_top + index / window.kernel_w;
  const int64_t input_x = x * window.stride_w - window.pad_left + index % window.kernel_w;
  const bool inside =
      input_y >= 0 && input_y < shape.input.h && input_x >= 0 && input_x < shape.input.w;
  return inside ? At(shape.input, n, input_y, input_x, c) : -1;
}

// Calls body(n, y, x, c) for every element of a tensor.
template <typename Body>
void ForEachElement(const Shape& shape, const Body& body) {
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    const int64_t pixel = i / shape.c;
    body(pixel / shape.w / shape.h, pixel / shape.w % shape.h, pixel % shape.w, i % shape.c);
  }
}

template <typename T>
void MaxForward(const PoolShape& shape, const T* x, T* y, uint8_t* indices) {
  const Shape output = shape.Output();
  const int64_t taps = shape.window.kernel_h * shape.window.kernel_w;
  ForEachElement(output, [&](int64_t n, int64_t row, int64_t column, int64_t c) {
    int64_t best = -1, best_position = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t position = TapPosition(shape, n, row, column, c, tap);
      if (position < 0 || (best >= 0 && !(x[position] > x[best_position]))) continue;
      best = tap;
      best_position = position;
    }
    y[At(output, n, row, column, c)] = x[best_position];
    indices[At(output, n, row, column, c)] = static_cast<uint8_t>(best);
  });
}

template <typename T>
void MaxBackward(const PoolShape& shape, const T* dy, const uint8_t* indices, GradientMode mode,
                 T* dx) {
  const Shape output = shape.Output();
  if (mode == GradientMode::kOverwrite) {
    for (int64_t i = 0; i < shape.input.Elements(); ++i) dx[i] = 0;
  }
  ForEachElement(output, [&](int64_t n, int64_t row, int64_t column, int64_t c) {
    const int64_t at = At(output, n, row, column, c);
    dx[TapPosition(shape, n, row, column, c, indices[at])] += dy[at];
  });
}

}  // namespace

Status ReferenceOps::MaxPoolForward(Stream&, const PoolShape& shape, const void* x, void* y,
                                    uint8_t* indices) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    MaxForward<T>(shape, Elements<T>(x), Elements<T>(y), indices);
  });
  return OkStatus();
}

Status ReferenceOps::MaxPoolBackward(Stream&, const PoolShape& shape, const void* dy,
                                     const uint8_t* indices, GradientMode mode, void* dx) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    MaxBackward<T>(shape, Elements<T>(dy), indices, mode, Elements<T>(dx));
  });
  return OkStatus();
}

Status ReferenceOps::MaxPoolGather(Stream&, const PoolShape& shape, const void* x,
                                   const uint8_t* indices, GradientMode mode, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    const Shape output = shape.Output();
    ForEachElement(output, [&](int64_t n, int64_t row, int64_t column, int64_t c) {
      const int64_t at = At(output, n, row, column, c);
      const int64_t from = TapPosition(shape, n, row, column, c, indices[at]);
      StoreGradient(mode, Elements<T>(x)[from], Elements<T>(y) + at);
    });
  });
  return OkStatus();
}

Status ReferenceOps::AveragePoolForward(Stream&, const PoolShape& shape, const void* x, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    const Shape output = shape.Output();
    ForEachElement(output, [&](int64_t n, int64_t row, int64_t column, int64_t c) {
      double sum = 0, taps = 0;
      for (int64_t tap = 0; tap < shape.window.kernel_h * shape.window.kernel_w; ++tap) {
        const int64_t from = TapPosition(shape, n, row, column, c, tap);
        if (from < 0) continue;
        sum += Elements<T>(x)[from];
        ++taps;
      }
      Elements<T>(y)[At(output, n, row, column, c)] = static_cast<T>(sum / taps);
    });
  });
  return OkStatus();
}

Status ReferenceOps::AveragePoolBackward(Stream&, const PoolShape& shape, const void* dy,
                                         GradientMode mode, void* dx) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    const Shape output = shape.Output();
    const int64_t window = shape.window.kernel_h * shape.window.kernel_w;
    if (mode == GradientMode::kOverwrite) {
      for (int64_t i = 0; i < shape.input.Elements(); ++i) Elements<T>(dx)[i] = 0;
    }
    ForEachElement(output, [&](int64_t n, int64_t row, int64_t column, int64_t c) {
      double taps = 0;
      for (int64_t t = 0; t < window; ++t) taps += TapPosition(shape, n, row, column, c, t) >= 0;
      for (int64_t t = 0; t < window; ++t) {
        const int64_t to = TapPosition(shape, n, row, column, c, t);
        if (to < 0) continue;
        const double gradient = Elements<T>(dy)[At(output, n, row, column, c)] / taps;
        StoreGradient(GradientMode::kAdd, gradient, Elements<T>(dx) + to);
      }
    });
  });
  return OkStatus();
}

Status ReferenceOps::GlobalAveragePoolForward(Stream&, const Shape& shape, const void* x, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    const int64_t pixels = shape.h * shape.w;
    for (int64_t i = 0; i < shape.n * shape.c; ++i) {
      const int64_t first = i / shape.c * pixels * shape.c + i % shape.c;
      double sum = 0;
      for (int64_t p = 0; p < pixels; ++p) sum += Elements<T>(x)[first + p * shape.c];
      Elements<T>(y)[i] = static_cast<T>(sum / static_cast<double>(pixels));
    }
  });
  return OkStatus();
}

Status ReferenceOps::GlobalAveragePoolBackward(Stream&, const Shape& shape, const void* dy,
                                               GradientMode mode, void* dx) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    const int64_t pixels = shape.h * shape.w;
    ForEachElement(shape, [&](int64_t n, int64_t y, int64_t x, int64_t c) {
      const double gradient = Elements<T>(dy)[n * shape.c + c] / static_cast<double>(pixels);
      StoreGradient(mode, gradient, Elements<T>(dx) + At(shape, n, y, x, c));
    });
  });
  return OkStatus();
}

}  // namespace shardmill
