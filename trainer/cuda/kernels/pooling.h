// Pooling in windows. Backward gathers: each index writes the gradient of its own inputs, so
// overlapping windows need no atomic sums.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/place.h"

namespace shardmill {

// The outputs whose windows hold the input coordinate `input`.
SHARDMILL_HD Interval WindowsOver(int64_t input, int64_t pad, int64_t kernel, const Divisor& stride,
                                  int64_t outputs) {
  const int64_t last = stride.Divide(input + pad), reach = input + pad - kernel;
  const int64_t first = reach >= 0 ? stride.Divide(reach) + 1 : 0;
  return {first, Smaller(last + 1, outputs)};
}

// The taps of the window of `output` that lie inside of the input.
SHARDMILL_HD Interval TapsInside(int64_t output, int64_t pad, int64_t kernel, int64_t stride,
                                 int64_t inputs) {
  const int64_t start = output * stride - pad;
  return {Larger(-start, 0), Smaller(kernel, inputs - start)};
}

// A pool and both of its sizes.
template <typename T>
struct PoolGeometry {
  explicit PoolGeometry(const PoolShape& pool)
      : window(pool.window),
        stride_h(pool.window.stride_h),
        stride_w(pool.window.stride_w),
        inputs(pool.input),
        outputs(pool.Output()) {}

  SHARDMILL_HD const Shape& input() const { return inputs.shape(); }
  SHARDMILL_HD const Shape& output() const { return outputs.shape(); }

  SHARDMILL_HD Interval RowTaps(int64_t y) const {
    return TapsInside(y, window.pad_top, window.kernel_h, window.stride_h, input().h);
  }
  SHARDMILL_HD Interval ColumnTaps(int64_t x) const {
    return TapsInside(x, window.pad_left, window.kernel_w, window.stride_w, input().w);
  }
  SHARDMILL_HD Interval RowsOver(int64_t y) const {
    return WindowsOver(y, window.pad_top, window.kernel_h, stride_h, output().h);
  }
  SHARDMILL_HD Interval ColumnsOver(int64_t x) const {
    return WindowsOver(x, window.pad_left, window.kernel_w, stride_w, output().w);
  }
  // Of the first element of the input pixel that tap (row, column) of output (y, x) reads.
  SHARDMILL_HD int64_t InputOf(int64_t n, int64_t y, int64_t x, int64_t row, int64_t column) const {
    return PixelAt(input(), n, y * window.stride_h - window.pad_top + row,
                   x * window.stride_w - window.pad_left + column);
  }

  Window window;
  Divisor stride_h, stride_w;
  Places<T> inputs, outputs;
};

// One index: one group of an output pixel.
template <typename T>
struct MaxPoolForwardKernel {
  PoolGeometry<T> pool;
  const T* x;
  T* y;
  uint8_t* indices;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = pool.outputs.At(index);
    const Interval rows = pool.RowTaps(place.y), columns = pool.ColumnTaps(place.x);
    Group<T> best = {};
    uint8_t taps[Group<T>::kWidth] = {};
    bool is_first = true;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      for (int64_t column = columns.begin; column < columns.end; ++column) {
        const int64_t at = pool.InputOf(place.n, place.y, place.x, row, column);
        const Group<T> values = LoadGroup(x + at + place.channels.first, place.channels.count);
        for (int i = 0; i < Group<T>::kWidth; ++i) {
          if (!is_first && !(values[i] > best[i])) continue;
          best[i] = values[i];
          taps[i] = static_cast<uint8_t>(row * pool.window.kernel_w + column);
        }
        is_first = false;
      }
    }
    StoreGroup(best, place.channels.count, y + place.offset);
    ForEachIn<T>(place.channels.count, [&](int i) { indices[place.offset + i] = taps[i]; });
  }
};

// One index: one group of an input pixel.
template <typename T>
struct MaxPoolBackwardKernel {
  PoolGeometry<T> pool;
  const T* dy;
  const uint8_t* indices;
  GradientMode mode;
  T* dx;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = pool.inputs.At(index);
    const Interval rows = pool.RowsOver(place.y), columns = pool.ColumnsOver(place.x);
    const Window& window = pool.window;
    Group<T> sums = {};
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      for (int64_t column = columns.begin; column < columns.end; ++column) {
        const int64_t tap_y = place.y + window.pad_top - row * window.stride_h;
        const int64_t tap_x = place.x + window.pad_left - column * window.stride_w;
        const int64_t tap = tap_y * window.kernel_w + tap_x;
        const int64_t at = PixelAt(pool.output(), place.n, row, column) + place.channels.first;
        const Group<T> gradients = LoadGroup(dy + at, place.channels.count);
        ForEachIn<T>(place.channels.count,
                     [&](int i) { sums[i] += indices[at + i] == tap ? gradients[i] : 0.0f; });
      }
    }
    StoreGradients(sums, mode, place.channels.count, dx + place.offset);
  }
};

// One index: one group of an output pixel.
template <typename T>
struct MaxPoolGatherKernel {
  PoolGeometry<T> pool;
  const T* x;
  const uint8_t* indices;
  GradientMode mode;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = pool.outputs.At(index);
    Group<T> values = {};
    ForEachIn<T>(place.channels.count, [&](int i) {
      const int64_t tap = indices[place.offset + i];
      const int64_t at = pool.InputOf(place.n, place.y, place.x, tap / pool.window.kernel_w,
                                      tap % pool.window.kernel_w);
      values[i] = ToFloat(x[at + place.channels.first + i]);
    });
    StoreGradients(values, mode, place.channels.count, y + place.offset);
  }
};

template <typename T>
struct AveragePoolForwardKernel {
  PoolGeometry<T> pool;
  const T* x;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = pool.outputs.At(index);
    const Interval rows = pool.RowTaps(place.y), columns = pool.ColumnTaps(place.x);
    Group<T> sums = {};
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      for (int64_t column = columns.begin; column < columns.end; ++column) {
        const int64_t at = pool.InputOf(place.n, place.y, place.x, row, column);
        const Group<T> values = LoadGroup(x + at + place.channels.first, place.channels.count);
        for (int i = 0; i < Group<T>::kWidth; ++i) sums[i] += values[i];
      }
    }
    const auto taps = static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
    for (float& sum : sums.values) sum /= taps;
    StoreGroup(sums, place.channels.count, y + place.offset);
  }
};

template <typename T>
struct AveragePoolBackwardKernel {
  PoolGeometry<T> pool;
  const T* dy;
  GradientMode mode;
  T* dx;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = pool.inputs.At(index);
    const Interval rows = pool.RowsOver(place.y), columns = pool.ColumnsOver(place.x);
    Group<T> sums = {};
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const Interval row_taps = pool.RowTaps(row);
      for (int64_t column = columns.begin; column < columns.end; ++column) {
        const Interval column_taps = pool.ColumnTaps(column);
        const auto taps = static_cast<float>((row_taps.end - row_taps.begin) *
                                             (column_taps.end - column_taps.begin));
        const int64_t at = PixelAt(pool.output(), place.n, row, column) + place.channels.first;
        const Group<T> gradients = LoadGroup(dy + at, place.channels.count);
        for (int i = 0; i < Group<T>::kWidth; ++i) sums[i] += gradients[i] / taps;
      }
    }
    StoreGradients(sums, mode, place.channels.count, dx + place.offset);
  }
};

}  // namespace shardmill
