// Convolution and transposed convolution over two grids: a large one (the input of a convolution,
// the output of a transposed one) and a small one. Tap k of small pixel s touches large pixel
// s * stride - pad + k * dilation. Each of the six operations is a sum over such pairs.
#include <algorithm>

#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {
namespace {

struct Geometry {
  Shape large, small;
  Window window;
  int64_t groups;
};

// The large row touched by a tap of a small row, or -1 when it lies in the padding.
int64_t LargeY(const Geometry& g, int64_t small_y, int64_t tap) {
  const int64_t y = small_y * g.window.stride_h - g.window.pad_top + tap * g.window.dilation_h;
  return y >= 0 && y < g.large.h ? y : -1;
}

int64_t LargeX(const Geometry& g, int64_t small_x, int64_t tap) {
  const int64_t x = small_x * g.window.stride_w - g.window.pad_left + tap * g.window.dilation_w;
  return x >= 0 && x < g.large.w ? x : -1;
}

// The small coordinate whose tap touches a large one, or -1 when there is none.
int64_t SmallOf(int64_t large, int64_t pad, int64_t tap, int64_t dilation, int64_t stride,
                int64_t size) {
  const int64_t position = large + pad - tap * dilation;
  if (position < 0 || position % stride != 0 || position / stride >= size) return -1;
  return position / stride;
}

// weights[out][ky][kx][in / groups], addressed by the channels of the grid that is written and
// the grid that is read; these are (out, in), or (in, out) when `swapped`.
template <typename T>
struct Weights {
  const T* data;
  Window window;
  int64_t read_per_group, written_per_group;
  bool swapped;

  double At(int64_t written, int64_t ky, int64_t kx, int64_t read_in_group) const {
    const int64_t group = written / written_per_group;
    const int64_t read = group * read_per_group + read_in_group;
    const int64_t out = swapped ? read : written;
    const int64_t in = swapped ? written % written_per_group : read_in_group;
    const int64_t in_per_group = swapped ? written_per_group : read_per_group;
    const int64_t tap = ky * window.kernel_w + kx;
    return data[(out * window.kernel_h * window.kernel_w + tap) * in_per_group + in];
  }

  // Sum over the channels of one pixel that is read.
  double Dot(const T* pixel, int64_t written, int64_t ky, int64_t kx) const {
    const int64_t first = written / written_per_group * read_per_group;
    double sum = 0;
    for (int64_t c = 0; c < read_per_group; ++c) sum += pixel[first + c] * At(written, ky, kx, c);
    return sum;
  }
};

template <typename T>
double SumOverLarge(const Geometry& g, const Weights<T>& weights, const T* large, int64_t n,
                    int64_t y, int64_t x, int64_t channel) {
  double sum = 0;
  for (int64_t ky = 0; ky < g.window.kernel_h; ++ky) {
    const int64_t large_y = LargeY(g, y, ky);
    for (int64_t kx = 0; kx < g.window.kernel_w; ++kx) {
      const int64_t large_x = LargeX(g, x, kx);
      if (large_y < 0 || large_x < 0) continue;
      sum += weights.Dot(large + At(g.large, n, large_y, large_x, 0), channel, ky, kx);
    }
  }
  return sum;
}

template <typename T>
double SumOverSmall(const Geometry& g, const Weights<T>& weights, const T* small, int64_t n,
                    int64_t y, int64_t x, int64_t channel) {
  const Window& w = g.window;
  double sum = 0;
  for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
    const int64_t small_y = SmallOf(y, w.pad_top, ky, w.dilation_h, w.stride_h, g.small.h);
    for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
      const int64_t small_x = SmallOf(x, w.pad_left, kx, w.dilation_w, w.stride_w, g.small.w);
      if (small_y < 0 || small_x < 0) continue;
      sum += weights.Dot(small + At(g.small, n, small_y, small_x, 0), channel, ky, kx);
    }
  }
  return sum;
}

template <typename Body>
void ForEachElement(const Shape& shape, const Body& body) {
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int64_t y = 0; y < shape.h; ++y) {
      for (int64_t x = 0; x < shape.w; ++x) {
        for (int64_t c = 0; c < shape.c; ++c) body(n, y, x, c);
      }
    }
  }
}

// Sum over all small pixels of small[channel] * large[channel] at one tap.
template <typename T>
double SumOverPairs(const Geometry& g, const T* small, int64_t small_channel, const T* large,
                    int64_t large_channel, int64_t ky, int64_t kx) {
  double sum = 0;
  for (int64_t n = 0; n < g.small.n; ++n) {
    for (int64_t y = 0; y < g.small.h; ++y) {
      const int64_t large_y = LargeY(g, y, ky);
      for (int64_t x = 0; x < g.small.w && large_y >= 0; ++x) {
        const int64_t large_x = LargeX(g, x, kx);
        if (large_x < 0) continue;
        sum += static_cast<double>(small[At(g.small, n, y, x, small_channel)]) *
               large[At(g.large, n, large_y, large_x, large_channel)];
      }
    }
  }
  return sum;
}

class ReferenceConvolution : public ConvolutionOp {
 public:
  ReferenceConvolution(const ConvolutionShape& shape, ElementType type)
      : shape_(shape),
        output_(shape.Output()),
        ceiling_(ActivationCeiling(shape.activation)),
        type_(type) {
    geometry_ = shape.transposed ? Geometry{output_, shape.input, shape.window, shape.groups}
                                 : Geometry{shape.input, output_, shape.window, shape.groups};
  }

  int64_t WorkspaceBytes() const override { return 0; }

  Status Forward(Stream&, const void* x, const void* weights, const void* bias, void* y,
                 void*) override {
    WithElementType(type_, [&](auto zero) {
      using T = decltype(zero);
      Sums<T>(output_, /*swapped=*/false, shape_.transposed, Elements<T>(x), Elements<T>(weights),
              Elements<T>(bias), Elements<T>(y));
    });
    return OkStatus();
  }

  Status BackwardData(Stream&, const void* dy, const void* weights, void* dx, void*) override {
    SHARDMILL_CHECK(shape_.zero_channels == 0);
    WithElementType(type_, [&](auto zero) {
      using T = decltype(zero);
      Sums<T>(shape_.input, /*swapped=*/true, !shape_.transposed, Elements<T>(dy),
              Elements<T>(weights), static_cast<const T*>(nullptr), Elements<T>(dx));
    });
    return OkStatus();
  }

  Status BackwardWeights(Stream&, const void* x, const void* dy, void* dweights, void* dbias,
                         void*) override {
    WithElementType(type_, [&](auto zero) {
      using T = decltype(zero);
      WeightSums<T>(Elements<T>(x), Elements<T>(dy), Elements<T>(dweights));
      if (dbias != nullptr) BiasSums<T>(Elements<T>(dy), Elements<T>(dbias));
    });
    return OkStatus();
  }

 private:
  // Fills the grid `written`: the large one from the small one when `to_large`, else vice versa.
  template <typename T>
  void Sums(const Shape& written, bool swapped, bool to_large, const T* read, const T* weights,
            const T* bias, T* destination) const {
    const int64_t read_channels = swapped ? output_.c : shape_.WeightChannels();
    const Weights<T> view = {weights, shape_.window, read_channels / shape_.groups,
                             written.c / shape_.groups, swapped};
    const auto sum = to_large ? SumOverSmall<T> : SumOverLarge<T>;
    ForEachElement(written, [&](int64_t n, int64_t y, int64_t x, int64_t c) {
      const double start = bias == nullptr ? 0.0 : bias[c];
      const double value = start + sum(geometry_, view, read, n, y, x, c);
      destination[At(written, n, y, x, c)] = static_cast<T>(swapped ? value : Held(value));
    });
  }

  double Held(double value) const {
    if (shape_.activation == Activation::kNone) return value;
    return std::min(std::max(0.0, value), ceiling_);
  }

  template <typename T>
  void WeightSums(const T* x, const T* dy, T* dweights) const {
    const int64_t in_per_group = shape_.WeightChannels() / shape_.groups;
    const int64_t out_per_group = output_.c / shape_.groups;
    const Shape weights = {output_.c, shape_.window.kernel_h, shape_.window.kernel_w, in_per_group};
    ForEachElement(weights, [&](int64_t out, int64_t ky, int64_t kx, int64_t i) {
      const int64_t in = out / out_per_group * in_per_group + i;
      dweights[At(weights, out, ky, kx, i)] =
          static_cast<T>(shape_.transposed ? SumOverPairs(geometry_, x, in, dy, out, ky, kx)
                                           : SumOverPairs(geometry_, dy, out, x, in, ky, kx));
    });
  }

  template <typename T>
  void BiasSums(const T* dy, T* dbias) const {
    for (int64_t c = 0; c < output_.c; ++c) {
      double sum = 0;
      for (int64_t pixel = 0; pixel < output_.Pixels(); ++pixel) sum += dy[pixel * output_.c + c];
      dbias[c] = static_cast<T>(sum);
    }
  }

  ConvolutionShape shape_;
  Shape output_;
  double ceiling_;
  Geometry geometry_;
  ElementType type_;
};

}  // namespace

Result<std::unique_ptr<ConvolutionOp>> ReferenceOps::PrepareConvolution(
    const ConvolutionShape& shape) {
  RETURN_IF_ERROR(shape.Check());
  return std::unique_ptr<ConvolutionOp>(new ReferenceConvolution(shape, element_type_));
}

}  // namespace shardmill
