#include <algorithm>
#include <cmath>

#include "trainer/ops/reference/element.h"
#include "trainer/ops/reference/reference_ops.h"

namespace shardmill {
namespace {

// The vectors of one channel as doubles.
template <typename T>
struct Channel {
  Channel(const BatchNormCall& norm, int64_t c)
      : mean(Elements<T>(norm.mean)[c]),
        inverse_deviation(1 / std::sqrt(Elements<T>(norm.variance)[c] + norm.epsilon)),
        scale(Elements<T>(norm.scale)[c]),
        shift(Elements<T>(norm.shift)[c]) {}

  double Normalized(double x) const { return (x - mean) * inverse_deviation; }

  double mean, inverse_deviation, scale, shift;
};

// The gradient behind the activation.
template <typename T>
double Masked(Activation activation, const void* y, const void* dy, int64_t at) {
  if (activation == Activation::kNone) return Elements<T>(dy)[at];
  const double value = Elements<T>(y)[at];
  return value > 0 && value < ActivationCeiling(activation) ? Elements<T>(dy)[at] : T{0};
}

template <typename T>
void Statistics(const Shape& shape, const T* x, T* mean, T* variance) {
  const double pixels = static_cast<double>(shape.Pixels());
  for (int64_t c = 0; c < shape.c; ++c) {
    double sum = 0, squares = 0;
    for (int64_t at = c; at < shape.Elements(); at += shape.c) sum += x[at];
    for (int64_t at = c; at < shape.Elements(); at += shape.c) {
      squares += (x[at] - sum / pixels) * (x[at] - sum / pixels);
    }
    mean[c] = static_cast<T>(sum / pixels);
    variance[c] = static_cast<T>(squares / pixels);
  }
}

template <typename T>
void Forward(const BatchNormCall& norm, T* y) {
  for (int64_t c = 0; c < norm.shape.c; ++c) {
    const Channel<T> channel(norm, c);
    for (int64_t at = c; at < norm.shape.Elements(); at += norm.shape.c) {
      const double value =
          channel.Normalized(Elements<T>(norm.x)[at]) * channel.scale + channel.shift;
      const double held = std::min(std::max(0.0, value), ActivationCeiling(norm.activation));
      y[at] = static_cast<T>(norm.activation == Activation::kNone ? value : held);
    }
  }
}

template <typename T>
void BackwardSums(const BatchNormCall& norm, const void* y, const void* dy, T* dscale, T* dshift) {
  for (int64_t c = 0; c < norm.shape.c; ++c) {
    const Channel<T> channel(norm, c);
    double scale_sum = 0, shift_sum = 0;
    for (int64_t at = c; at < norm.shape.Elements(); at += norm.shape.c) {
      const double gradient = Masked<T>(norm.activation, y, dy, at);
      scale_sum += gradient * channel.Normalized(Elements<T>(norm.x)[at]);
      shift_sum += gradient;
    }
    dscale[c] = static_cast<T>(scale_sum);
    dshift[c] = static_cast<T>(shift_sum);
  }
}

template <typename T>
void BackwardData(const BatchNormCall& norm, const BatchNormSums& sums, const void* y,
                  const void* dy, T* dx) {
  const double pixels = static_cast<double>(sums.pixels);
  for (int64_t c = 0; c < norm.shape.c; ++c) {
    const Channel<T> channel(norm, c);
    const double mean_gradient = Elements<T>(sums.dshift)[c] / pixels;
    const double mean_product = Elements<T>(sums.dscale)[c] / pixels;
    for (int64_t at = c; at < norm.shape.Elements(); at += norm.shape.c) {
      const double normalized = channel.Normalized(Elements<T>(norm.x)[at]);
      const double gradient = Masked<T>(norm.activation, y, dy, at);
      dx[at] = static_cast<T>(channel.scale * channel.inverse_deviation *
                              (gradient - mean_gradient - normalized * mean_product));
    }
  }
}

}  // namespace

Status ReferenceOps::BatchNormStatistics(Stream&, const Shape& shape, const void* x, void* mean,
                                         void* variance, void*) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    Statistics<T>(shape, Elements<T>(x), Elements<T>(mean), Elements<T>(variance));
  });
  return OkStatus();
}

Status ReferenceOps::BatchNormUpdateRunning(Stream&, int64_t channels, int64_t pixels,
                                            double momentum, const void* mean, const void* variance,
                                            void* running_mean, void* running_variance) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    const double unbias = pixels > 1 ? static_cast<double>(pixels) / (pixels - 1) : 1.0;
    for (int64_t c = 0; c < channels; ++c) {
      T& running = Elements<T>(running_mean)[c];
      running = static_cast<T>(running + momentum * (Elements<T>(mean)[c] - running));
      T& spread = Elements<T>(running_variance)[c];
      spread = static_cast<T>(spread + momentum * (Elements<T>(variance)[c] * unbias - spread));
    }
  });
  return OkStatus();
}

Status ReferenceOps::BatchNormForward(Stream&, const BatchNormCall& norm, void* y) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    Forward<T>(norm, Elements<T>(y));
  });
  return OkStatus();
}

Status ReferenceOps::BatchNormBackwardSums(Stream&, const BatchNormCall& norm, const void* y,
                                           const void* dy, void* dscale, void* dshift) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    BackwardSums<T>(norm, y, dy, Elements<T>(dscale), Elements<T>(dshift));
  });
  return OkStatus();
}

Status ReferenceOps::BatchNormBackwardData(Stream&, const BatchNormCall& norm,
                                           const BatchNormSums& sums, const void* y, const void* dy,
                                           void* dx) {
  WithElementType(element_type_, [&](auto zero) {
    using T = decltype(zero);
    BackwardData<T>(norm, sums, y, dy, Elements<T>(dx));
  });
  return OkStatus();
}

}  // namespace shardmill
