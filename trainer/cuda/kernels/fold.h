// Adding the partial sums of slices, in a fixed order, in two rounds of about equal length.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/group.h"

namespace shardmill {

// Rounds for `slices` partial sums per column: the first makes `parts` sums of `each` or fewer.
struct FoldRounds {
  explicit FoldRounds(int64_t slices) : each(1) {
    while (each * each < slices) ++each;
    parts = CeilDivide(slices, each);
  }

  int64_t each, parts;
};

// items[slice * columns + column]; one index: one column of one part. `Sum` starts as nothing and
// has Add(Item).
template <typename Item, typename Sum>
struct FoldKernel {
  int64_t slices, columns, each;
  const Item* items;
  Sum* parts;

  SHARDMILL_HD void operator()(int64_t index) const {
    const int64_t first = index / columns * each, column = index % columns;
    const int64_t end = Smaller(first + each, slices);
    Sum sum;
    for (int64_t slice = first; slice < end; ++slice) sum.Add(items[slice * columns + column]);
    parts[index] = sum;
  }
};

// The second round; one index: one column, whose sum goes to finish(column, sum).
template <typename Sum, typename Finish>
struct FoldFinishKernel {
  int64_t parts_per_column, columns;
  const Sum* parts;
  Finish finish;

  SHARDMILL_HD void operator()(int64_t column) const {
    Sum sum;
    for (int64_t part = 0; part < parts_per_column; ++part) {
      sum.Add(parts[part * columns + column]);
    }
    finish(column, sum);
  }
};

// kCount sums side by side.
template <int kCount>
struct Sums {
  double values[kCount] = {};

  SHARDMILL_HD void Add(const float* terms) {
    for (int i = 0; i < kCount; ++i) values[i] += terms[i];
  }
  SHARDMILL_HD void Add(const Sums& other) {
    for (int i = 0; i < kCount; ++i) values[i] += other.values[i];
  }
};

// The terms of Sums that a slice made.
template <int kCount>
struct SliceSums {
  float values[kCount];
  SHARDMILL_HD operator const float*() const { return values; }
};

}  // namespace shardmill
