// Partial sums of slices and their folding, as two launches over a part of the workspace.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/fold.h"
#include "trainer/cuda/kernels/slices.h"
#include "trainer/cuda/ops/kernel_backend.h"

namespace shardmill {

// Items are what the slices made, [slices][columns]; they are added up to one Sum per column.
template <typename Item, typename Sum>
struct SliceFold {
  SliceFold(int64_t slices, int64_t columns, WorkspaceParts* workspace)
      : slices(slices),
        columns(columns),
        rounds(slices),
        items(workspace->Take<Item>(slices * columns)),
        parts(workspace->Take<Sum>(rounds.parts * columns)) {}

  // Calls finish(column, sum) for each column.
  template <typename Backend, typename Finish>
  Status Run(Backend& backend, Stream& stream, const Finish& finish) const {
    RETURN_IF_ERROR(
        backend.Launch(stream, rounds.parts * columns,
                       FoldKernel<Item, Sum>{slices, columns, rounds.each, items, parts}));
    return backend.Launch(stream, columns,
                          FoldFinishKernel<Sum, Finish>{rounds.parts, columns, parts, finish});
  }

  int64_t slices, columns;
  FoldRounds rounds;
  Item* items;
  Sum* parts;
};

// Slices for passes that write each pixel. Vectors are read once per slice, so as few slices as are
// enough; these have at least kPixels pixels where there are many.
template <typename T>
ChannelSlices<T> SlicesToWrite(const Shape& shape) {
  constexpr int64_t kPixels = 16;
  const int64_t pixels = shape.Pixels();
  const int64_t enough = Larger(kEnoughToWrite / GroupsOf<T>(shape.c), 1);
  return {pixels, shape.c, Larger(pixels / kPixels, Smaller(pixels, enough))};
}

// Slices for passes with sums.
template <typename T>
ChannelSlices<T> SlicesToSum(const Shape& shape) {
  constexpr int64_t kPixels = 64;
  const int64_t pixels = shape.Pixels();
  return {pixels, shape.c, SlicesFor(pixels, GroupsOf<T>(shape.c), kPixels)};
}

}  // namespace shardmill
