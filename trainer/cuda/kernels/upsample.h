// Upsampling by whole factors. Backward gathers, like pooling.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/place.h"

namespace shardmill {

// TapOf along one axis, in whole numbers.
class UpsampleAxis {
 public:
  UpsampleAxis(UpsampleMode mode, int64_t factor, int64_t size)
      : mode_(mode), factor_(factor), size_(size), period_(PeriodOf(mode, factor)) {}

  struct Tap {
    int64_t first, second;
    float share;  // of the second
  };

  SHARDMILL_HD Tap TapAt(int64_t output) const {
    if (mode_ == UpsampleMode::kNearest) {
      const int64_t at = period_.Divide(output);
      return {at, at, 0};
    }
    // (output + 1/2) / factor - 1/2 is this over 2 factor, minus 1.
    const int64_t numerator = 2 * output + 1 + factor_;
    const int64_t whole = period_.Divide(numerator);
    const auto rest = static_cast<float>(numerator - whole * period_.divisor());
    const float share = rest / static_cast<float>(period_.divisor());
    return {Larger(whole - 1, 0), Smaller(whole, size_ - 1), share};
  }

  // How much of an output coordinate is an input coordinate.
  SHARDMILL_HD float ShareOf(int64_t output, int64_t input) const {
    const Tap tap = TapAt(output);
    float share = tap.first == input ? 1 - tap.share : 0.0f;
    if (tap.second == input) share += tap.share;
    return share;
  }

  // The outputs that an input coordinate may have a share in.
  SHARDMILL_HD Interval OutputsOf(int64_t input) const {
    if (mode_ == UpsampleMode::kNearest) return {input * factor_, (input + 1) * factor_};
    // Half a factor before the first and behind the last pixel of the input's own.
    const int64_t half = factor_ / 2 + 1;
    return {Larger(input * factor_ - half, 0),
            Smaller((input + 1) * factor_ + half, size_ * factor_)};
  }

 private:
  static int64_t PeriodOf(UpsampleMode mode, int64_t factor) {
    return mode == UpsampleMode::kNearest ? factor : 2 * factor;
  }

  UpsampleMode mode_;
  int64_t factor_, size_;
  Divisor period_;
};

// Both axes, and both shapes.
template <typename T>
struct UpsampleGeometry {
  explicit UpsampleGeometry(const UpsampleShape& shape)
      : rows(shape.mode, shape.factor_h, shape.input.h),
        columns(shape.mode, shape.factor_w, shape.input.w),
        input(shape.input),
        output(shape.Output()) {}

  UpsampleAxis rows, columns;
  Places<T> input, output;
};

// One index: one group of an output pixel.
template <typename T>
struct UpsampleForwardKernel {
  UpsampleGeometry<T> geometry;
  const T* x;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = geometry.output.At(index);
    const UpsampleAxis::Tap row = geometry.rows.TapAt(place.y);
    const UpsampleAxis::Tap column = geometry.columns.TapAt(place.x);
    Group<T> sums = {};
    AddPart(place, row.first, column.first, (1 - row.share) * (1 - column.share), &sums);
    AddPart(place, row.first, column.second, (1 - row.share) * column.share, &sums);
    AddPart(place, row.second, column.first, row.share * (1 - column.share), &sums);
    AddPart(place, row.second, column.second, row.share * column.share, &sums);
    StoreGroup(sums, place.channels.count, y + place.offset);
  }

  SHARDMILL_HD void AddPart(const Place<T>& place, int64_t row, int64_t column, float share,
                            Group<T>* sums) const {
    if (share == 0) return;
    const int64_t at = PixelAt(geometry.input.shape(), place.n, row, column);
    const Group<T> values = LoadGroup(x + at + place.channels.first, place.channels.count);
    for (int i = 0; i < Group<T>::kWidth; ++i) (*sums)[i] += share * values[i];
  }
};

// One index: one group of an input pixel.
template <typename T>
struct UpsampleBackwardKernel {
  UpsampleGeometry<T> geometry;
  const T* dy;
  GradientMode mode;
  T* dx;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = geometry.input.At(index);
    const Interval rows = geometry.rows.OutputsOf(place.y);
    const Interval columns = geometry.columns.OutputsOf(place.x);
    Group<T> sums = {};
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const float row_share = geometry.rows.ShareOf(row, place.y);
      if (row_share == 0) continue;
      for (int64_t column = columns.begin; column < columns.end; ++column) {
        const float share = row_share * geometry.columns.ShareOf(column, place.x);
        if (share == 0) continue;
        const int64_t at = PixelAt(geometry.output.shape(), place.n, row, column);
        const Group<T> gradients = LoadGroup(dy + at + place.channels.first, place.channels.count);
        for (int i = 0; i < Group<T>::kWidth; ++i) sums[i] += share * gradients[i];
      }
    }
    StoreGradients(sums, mode, place.channels.count, dx + place.offset);
  }
};

}  // namespace shardmill
