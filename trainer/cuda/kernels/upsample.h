// Upsampling by whole factors. Backward gathers, like pooling.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/place.h"

namespace shardmill {

// One index: one group of an output pixel.
template <typename T>
struct UpsampleForwardKernel {
  UpsampleShape shape;
  Shape output;
  const T* x;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place(index, output);
    const UpsampleTap row = TapOf(shape.mode, place.y, shape.factor_h, shape.input.h);
    const UpsampleTap column = TapOf(shape.mode, place.x, shape.factor_w, shape.input.w);
    Group<T> sums = {};
    AddPart(place, row.first, column.first, (1 - row.share) * (1 - column.share), &sums);
    if (shape.mode == UpsampleMode::kBilinear) {
      AddPart(place, row.first, column.second, (1 - row.share) * column.share, &sums);
      AddPart(place, row.second, column.first, row.share * (1 - column.share), &sums);
      AddPart(place, row.second, column.second, row.share * column.share, &sums);
    }
    StoreGroup(sums, place.channels.count, y + place.offset);
  }

  SHARDMILL_HD void AddPart(const Place<T>& place, int64_t row, int64_t column, double share,
                            Group<T>* sums) const {
    const int64_t at = PixelAt(shape.input, place.n, row, column) + place.channels.first;
    const Group<T> values = LoadGroup(x + at, place.channels.count);
    for (int i = 0; i < Group<T>::kWidth; ++i) {
      (*sums)[i] += static_cast<float>(share) * values[i];
    }
  }
};

// One index: one group of an input pixel.
template <typename T>
struct UpsampleBackwardKernel {
  UpsampleShape shape;
  Shape output;
  const T* dy;
  GradientMode mode;
  T* dx;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place(index, shape.input);
    const int64_t row_begin = Larger((place.y - 1) * shape.factor_h, 0);
    const int64_t row_end = Smaller((place.y + 2) * shape.factor_h, output.h);
    const int64_t column_begin = Larger((place.x - 1) * shape.factor_w, 0);
    const int64_t column_end = Smaller((place.x + 2) * shape.factor_w, output.w);
    Group<T> sums = {};
    for (int64_t row = row_begin; row < row_end; ++row) {
      const float row_share = ShareOf(row, place.y, shape.factor_h, shape.input.h);
      if (row_share == 0) continue;
      for (int64_t column = column_begin; column < column_end; ++column) {
        const float share = row_share * ShareOf(column, place.x, shape.factor_w, shape.input.w);
        if (share == 0) continue;
        const int64_t at = PixelAt(output, place.n, row, column) + place.channels.first;
        const Group<T> gradients = LoadGroup(dy + at, place.channels.count);
        for (int i = 0; i < Group<T>::kWidth; ++i) sums[i] += share * gradients[i];
      }
    }
    StoreGradients(sums, mode, place.channels.count, dx + place.offset);
  }

  // How much of output coordinate `output_at` is input coordinate `input_at`.
  SHARDMILL_HD float ShareOf(int64_t output_at, int64_t input_at, int64_t factor,
                             int64_t size) const {
    const UpsampleTap tap = TapOf(shape.mode, output_at, factor, size);
    double share = tap.first == input_at ? 1 - tap.share : 0.0;
    if (tap.second == input_at) share += tap.share;
    return static_cast<float>(share);
  }
};

}  // namespace shardmill
