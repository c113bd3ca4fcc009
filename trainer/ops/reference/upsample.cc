#include <vector>

#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {
namespace {

// Calls body(output position, input position, share) for each of the four parts of each element.
template <typename Body>
void ForEachShare(const UpsampleShape& shape, const Body& body) {
  const Shape output = shape.Output();
  for (int64_t i = 0; i < output.Elements(); ++i) {
    const int64_t c = i % output.c, x = i / output.c % output.w;
    const int64_t y = i / output.c / output.w % output.h, n = i / output.c / output.w / output.h;
    const UpsampleTap row = TapOf(shape.mode, y, shape.factor_h, shape.input.h);
    const UpsampleTap column = TapOf(shape.mode, x, shape.factor_w, shape.input.w);
    for (int part = 0; part < 4; ++part) {
      const bool below = part / 2 == 1, right = part % 2 == 1;
      const double share =
          (below ? row.share : 1 - row.share) * (right ? column.share : 1 - column.share);
      body(i,
           At(shape.input, n, below ? row.second : row.first, right ? column.second : column.first,
              c),
           share);
    }
  }
}

}  // namespace

Status ReferenceOps::UpsampleForward(Stream&, const UpsampleShape& shape, const void* x, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> sums(shape.Output().Elements(), 0);
    ForEachShare(shape, [&](int64_t to, int64_t from, double share) {
      sums[to] += share * Elements<T>(x)[from];
    });
    for (size_t i = 0; i < sums.size(); ++i) Elements<T>(y)[i] = static_cast<T>(sums[i]);
  });
  return OkStatus();
}

Status ReferenceOps::UpsampleBackward(Stream&, const UpsampleShape& shape, const void* dy,
                                      GradientMode mode, void* dx) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> sums(shape.input.Elements(), 0);
    ForEachShare(shape, [&](int64_t from, int64_t to, double share) {
      sums[to] += share * Elements<T>(dy)[from];
    });
    for (size_t i = 0; i < sums.size(); ++i) StoreGradient(mode, sums[i], Elements<T>(dx) + i);
  });
  return OkStatus();
}

}  // namespace shardmill
