// Forward mixes four input pixels per output pixel; backward gathers, per input pixel, from the
// output pixels that read it, so that no two threads write to the same place.
#include <algorithm>

#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"

namespace shardmill {
namespace {

// What an output coordinate has of an input coordinate.
float ShareOf(const UpsampleTap& tap, int64_t input) {
  return static_cast<float>((tap.first == input ? 1 - tap.share : 0) +
                            (tap.second == input ? tap.share : 0));
}

// The output coordinates that may read an input coordinate.
struct Readers {
  Readers(int64_t input, int64_t factor, int64_t input_size)
      : begin(std::max<int64_t>(0, (input - 1) * factor)),
        end(std::min(input_size, input + 2) * factor) {}
  int64_t begin, end;
};

void MixPixel(const float* const corners[4], const float* shares, int64_t channels, float* y) {
#pragma omp simd
  for (int64_t c = 0; c < channels; ++c) {
    y[c] = shares[0] * corners[0][c] + shares[1] * corners[1][c] + shares[2] * corners[2][c] +
           shares[3] * corners[3][c];
  }
}

void GatherPixel(const UpsampleShape& shape, const float* dy, int64_t row, int64_t column,
                 float* dx) {
  const int64_t width = shape.input.w * shape.factor_w, channels = shape.input.c;
  const Readers rows(row, shape.factor_h, shape.input.h);
  const Readers columns(column, shape.factor_w, shape.input.w);
  for (int64_t y = rows.begin; y < rows.end; ++y) {
    const float vertical = ShareOf(TapOf(shape.mode, y, shape.factor_h, shape.input.h), row);
    if (vertical == 0) continue;
    for (int64_t x = columns.begin; x < columns.end; ++x) {
      const float share =
          vertical * ShareOf(TapOf(shape.mode, x, shape.factor_w, shape.input.w), column);
      if (share == 0) continue;
      const float* from = dy + (y * width + x) * channels;
#pragma omp simd
      for (int64_t c = 0; c < channels; ++c) dx[c] += share * from[c];
    }
  }
}

}  // namespace

Status OnednnOps::UpsampleForward(Stream&, const UpsampleShape& shape, const void* x, void* y) {
  const Shape output = shape.Output();
  const Shape& input = shape.input;
  ParallelFor(output.n * output.h, [&](int64_t line, int64_t) {
    const float* image =
        static_cast<const float*>(x) + line / output.h * input.h * input.w * input.c;
    const UpsampleTap row = TapOf(shape.mode, line % output.h, shape.factor_h, input.h);
    const auto down = static_cast<float>(row.share);
    const float* upper = image + row.first * input.w * input.c;
    const float* lower = image + row.second * input.w * input.c;
    float* to = static_cast<float*>(y) + line * output.w * output.c;
    for (int64_t p = 0; p < output.w; ++p, to += output.c) {
      const UpsampleTap column = TapOf(shape.mode, p, shape.factor_w, input.w);
      const auto right = static_cast<float>(column.share);
      const float* const corners[4] = {
          upper + column.first * input.c, upper + column.second * input.c,
          lower + column.first * input.c, lower + column.second * input.c};
      const float shares[4] = {(1 - down) * (1 - right), (1 - down) * right, down * (1 - right),
                               down * right};
      MixPixel(corners, shares, output.c, to);
    }
  });
  return OkStatus();
}

Status OnednnOps::UpsampleBackward(Stream&, const UpsampleShape& shape, const void* dy,
                                   GradientMode mode, void* dx) {
  const Shape& input = shape.input;
  const Shape output = shape.Output();
  ParallelFor(input.n * input.h, [&](int64_t line, int64_t) {
    const float* image =
        static_cast<const float*>(dy) + line / input.h * output.h * output.w * output.c;
    float* to = static_cast<float*>(dx) + line * input.w * input.c;
    if (mode == GradientMode::kOverwrite) std::fill_n(to, input.w * input.c, 0.0f);
    for (int64_t p = 0; p < input.w; ++p) {
      GatherPixel(shape, image, line % input.h, p, to + p * input.c);
    }
  });
  return OkStatus();
}

}  // namespace shardmill
