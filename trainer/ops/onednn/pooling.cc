#include <algorithm>
#include <array>
#include <cstring>

#include "trainer/ops/onednn/channel_kernels.h"
#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"

namespace shardmill {
namespace {

constexpr int kMaxTaps = 255;  // PoolShape::Check allows no more

// The taps of one window (or of all windows of a run) that lie inside the image.
struct Taps {
  std::array<int64_t, kMaxTaps> offsets;  // from the position of the window's first tap
  std::array<uint8_t, kMaxTaps> numbers;
  int count = 0;
};

// First and one past the last tap inside [0, size) of a window that starts at `start`.
struct Inside {
  Inside(int64_t start, int64_t kernel, int64_t size)
      : begin(std::max<int64_t>(0, -start)), end(std::min(kernel, size - start)) {}
  int64_t begin, end;
};

class Pooling {
 public:
  explicit Pooling(const PoolShape& shape) : shape_(shape), output_(shape.Output()) {
    const Window& w = shape.window;
    // Windows of a row before this one, and from that one on, reach into the padding.
    inner_begin_ = std::min((w.pad_left + w.stride_w - 1) / w.stride_w, output_.w);
    const int64_t last_start = shape.input.w - w.kernel_w + w.pad_left;
    const int64_t inner_end = last_start < 0 ? 0 : last_start / w.stride_w + 1;
    inner_end_ = std::clamp(inner_end, inner_begin_, output_.w);
  }

  const Shape& output() const { return output_; }

  // Calls body(run, output, input) for one row of windows: runs of windows with equal taps, the
  // positions of the first output and of the first window's first tap (which may lie outside).
  template <typename Body>
  void ForRow(int64_t row, const Body& body) const {
    for (int64_t x = 0; x < inner_begin_; ++x) ForRun(row, x, 1, body);
    if (inner_end_ > inner_begin_) ForRun(row, inner_begin_, inner_end_ - inner_begin_, body);
    for (int64_t x = inner_end_; x < output_.w; ++x) ForRun(row, x, 1, body);
  }

 private:
  template <typename Body>
  void ForRun(int64_t row, int64_t x, int64_t windows, const Body& body) const {
    const Window& w = shape_.window;
    const Shape& input = shape_.input;
    const int64_t top = row % output_.h * w.stride_h - w.pad_top;
    const int64_t left = x * w.stride_w - w.pad_left;
    const Inside rows(top, w.kernel_h, input.h), columns(left, w.kernel_w, input.w);
    Taps taps;
    for (int64_t ky = rows.begin; ky < rows.end; ++ky) {
      for (int64_t kx = columns.begin; kx < columns.end; ++kx) {
        taps.offsets[taps.count] = (ky * input.w + kx) * input.c;
        taps.numbers[taps.count++] = static_cast<uint8_t>(ky * w.kernel_w + kx);
      }
    }
    const WindowRun run = {windows,
                           input.c,
                           w.stride_w * input.c,
                           taps.count,
                           taps.offsets.data(),
                           taps.numbers.data()};
    const int64_t image = row / output_.h;
    body(run, (row * output_.w + x) * output_.c,
         ((image * input.h + top) * input.w + left) * input.c);
  }

  PoolShape shape_;
  Shape output_;
  int64_t inner_begin_, inner_end_;
};

bool WindowsOverlap(const Window& window) {
  return window.stride_h < window.kernel_h || window.stride_w < window.kernel_w;
}

// Calls body(row) for each row of windows: rows of one image one after the other where their
// windows touch the same elements.
template <typename Body>
void ForEachRowOfWindows(const PoolShape& shape, const Body& body) {
  const Shape output = shape.Output();
  if (!WindowsOverlap(shape.window)) {
    ParallelFor(output.n * output.h, [&](int64_t row, int64_t) { body(row); });
    return;
  }
  ParallelFor(output.n, [&](int64_t image, int64_t) {
    for (int64_t y = 0; y < output.h; ++y) body(image * output.h + y);
  });
}

void Clear(int64_t elements, void* memory) {
  ParallelRanges(elements, 1 << 14, [&](int64_t begin, int64_t end) {
    std::fill(static_cast<float*>(memory) + begin, static_cast<float*>(memory) + end, 0.0f);
  });
}

// y = mean over the taps of each window.
void MeanOfWindows(const WindowRun& run, const float* first, float* y) {
  const float share = 1.0f / static_cast<float>(run.taps);
  for (int64_t i = 0; i < run.windows; ++i, y += run.channels) {
    std::fill_n(y, run.channels, 0.0f);
    for (int t = 0; t < run.taps; ++t) {
      const float* tap = first + i * run.window_stride + run.offsets[t];
#pragma omp simd
      for (int64_t c = 0; c < run.channels; ++c) y[c] += tap[c] * share;
    }
  }
}

void SpreadMeans(const WindowRun& run, const float* dy, float* first) {
  const float share = 1.0f / static_cast<float>(run.taps);
  for (int64_t i = 0; i < run.windows; ++i, dy += run.channels) {
    for (int t = 0; t < run.taps; ++t) {
      float* tap = first + i * run.window_stride + run.offsets[t];
#pragma omp simd
      for (int64_t c = 0; c < run.channels; ++c) tap[c] += dy[c] * share;
    }
  }
}

// Whether every input element lies in exactly one window.
bool WindowsTile(const PoolShape& shape) {
  const Window& w = shape.window;
  const Shape output = shape.Output();
  return w.stride_h == w.kernel_h && w.stride_w == w.kernel_w && w.pad_top == 0 &&
         w.pad_left == 0 && output.h * w.kernel_h == shape.input.h &&
         output.w * w.kernel_w == shape.input.w;
}

}  // namespace

Status OnednnOps::MaxPoolForward(Stream&, const PoolShape& shape, const void* x, void* y,
                                 uint8_t* indices) {
  const Pooling pooling(shape);
  ParallelFor(pooling.output().n * pooling.output().h, [&](int64_t row, int64_t) {
    pooling.ForRow(row, [&](const WindowRun& run, int64_t output, int64_t input) {
      MaxOfWindows(run, static_cast<const float*>(x) + input, static_cast<float*>(y) + output,
                   indices + output);
    });
  });
  return OkStatus();
}

Status OnednnOps::MaxPoolBackward(Stream&, const PoolShape& shape, const void* dy,
                                  const uint8_t* indices, GradientMode mode, void* dx) {
  const Pooling pooling(shape);
  const bool tile = WindowsTile(shape);
  const bool add = mode == GradientMode::kAdd || !tile;
  const auto spread_row = [&](int64_t row) {
    pooling.ForRow(row, [&](const WindowRun& run, int64_t from, int64_t to) {
      SpreadOverWindows(run, static_cast<const float*>(dy) + from, indices + from, add,
                        static_cast<float*>(dx) + to);
    });
  };
  if (mode == GradientMode::kOverwrite && !tile) Clear(shape.input.Elements(), dx);
  ForEachRowOfWindows(shape, spread_row);
  return OkStatus();
}

Status OnednnOps::MaxPoolGather(Stream&, const PoolShape& shape, const void* x,
                                const uint8_t* indices, GradientMode mode, void* y) {
  const Shape output = shape.Output();
  const Window& w = shape.window;
  ParallelFor(output.n * output.h, [&](int64_t row, int64_t) {
    const int64_t top = row % output.h * w.stride_h - w.pad_top;
    for (int64_t i = 0; i < output.w * output.c; ++i) {
      const int64_t at = row * output.w * output.c + i;
      const int64_t input_y = top + indices[at] / w.kernel_w;
      const int64_t input_x = i / output.c * w.stride_w - w.pad_left + indices[at] % w.kernel_w;
      const int64_t from =
          ((row / output.h * shape.input.h + input_y) * shape.input.w + input_x) * output.c +
          i % output.c;
      float& to = static_cast<float*>(y)[at];
      to = static_cast<const float*>(x)[from] + (mode == GradientMode::kAdd ? to : 0.0f);
    }
  });
  return OkStatus();
}

Status OnednnOps::AveragePoolForward(Stream&, const PoolShape& shape, const void* x, void* y) {
  const Pooling pooling(shape);
  ParallelFor(pooling.output().n * pooling.output().h, [&](int64_t row, int64_t) {
    pooling.ForRow(row, [&](const WindowRun& run, int64_t output, int64_t input) {
      MeanOfWindows(run, static_cast<const float*>(x) + input, static_cast<float*>(y) + output);
    });
  });
  return OkStatus();
}

Status OnednnOps::AveragePoolBackward(Stream&, const PoolShape& shape, const void* dy,
                                      GradientMode mode, void* dx) {
  const Pooling pooling(shape);
  if (mode == GradientMode::kOverwrite) Clear(shape.input.Elements(), dx);
  ForEachRowOfWindows(shape, [&](int64_t row) {
    pooling.ForRow(row, [&](const WindowRun& run, int64_t from, int64_t to) {
      SpreadMeans(run, static_cast<const float*>(dy) + from, static_cast<float*>(dx) + to);
    });
  });
  return OkStatus();
}

Status OnednnOps::GlobalAveragePoolForward(Stream&, const Shape& shape, const void* x, void* y) {
  const int64_t pixels = shape.h * shape.w;
  ParallelFor(shape.n, [&](int64_t n, int64_t) {
    const float* image = static_cast<const float*>(x) + n * pixels * shape.c;
    for (int64_t c = 0; c < shape.c; ++c) {
      double sum = 0;
      for (int64_t p = 0; p < pixels; ++p) sum += image[p * shape.c + c];
      static_cast<float*>(y)[n * shape.c + c] =
          static_cast<float>(sum / static_cast<double>(pixels));
    }
  });
  return OkStatus();
}

Status OnednnOps::GlobalAveragePoolBackward(Stream&, const Shape& shape, const void* dy,
                                            GradientMode mode, void* dx) {
  const int64_t pixels = shape.h * shape.w;
  const float share = 1.0f / static_cast<float>(pixels);
  ParallelFor(shape.n, [&](int64_t n, int64_t) {
    const float* gradient = static_cast<const float*>(dy) + n * shape.c;
    float* image = static_cast<float*>(dx) + n * pixels * shape.c;
    for (int64_t p = 0; p < pixels; ++p) {
      for (int64_t c = 0; c < shape.c; ++c) {
        float& destination = image[p * shape.c + c];
        destination = gradient[c] * share + (mode == GradientMode::kAdd ? destination : 0.0f);
      }
    }
  });
  return OkStatus();
}

}  // namespace shardmill
