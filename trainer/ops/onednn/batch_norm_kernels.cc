#include "trainer/ops/onednn/batch_norm_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/ops/onednn/batch_norm_kernels.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Calls body(tag, i, p) for every vector of the run: elements i … of the tensor, p … of the
// period; one lane at a time where less than a vector is left.
template <typename Body>
HWY_INLINE void ForEachVector(int64_t elements, int64_t period, const Body& body) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> single;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(wide));
  for (int64_t start = 0; start < elements; start += period) {
    const int64_t length = HWY_MIN(period, elements - start);
    int64_t p = 0;
    for (; p + lanes <= length; p += lanes) body(wide, start + p, p);
    for (; p < length; ++p) body(single, start + p, p);
  }
}

void AddPeriods(const float* x, int64_t elements, int64_t period, float* sums) {
  ForEachVector(elements, period, [=](auto d, int64_t i, int64_t p) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, sums + p), hn::LoadU(d, x + i)), d, sums + p);
  });
}

void AddSquaredDeviations(const float* x, int64_t elements, int64_t period, const float* mean,
                          float* sums) {
  ForEachVector(elements, period, [=](auto d, int64_t i, int64_t p) HWY_ATTR {
    const auto deviation = hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, mean + p));
    hn::StoreU(hn::MulAdd(deviation, deviation, hn::LoadU(d, sums + p)), d, sums + p);
  });
}

// The value before the activation. Forward and backward use this same expression, so that they
// agree on which elements ReLU let pass.
template <class D, class V>
HWY_INLINE V Normalized(D d, const PeriodicNorm& norm, V deviation, int64_t p) {
  return hn::MulAdd(deviation, hn::LoadU(d, norm.factor + p), hn::LoadU(d, norm.shift + p));
}

void NormalizePeriods(const PeriodicNorm& norm, const float* x, int64_t elements, float* y) {
  const bool relu = norm.activation != Activation::kNone;
  const auto ceiling = static_cast<float>(ActivationCeiling(norm.activation));
  ForEachVector(elements, norm.period, [=, &norm](auto d, int64_t i, int64_t p) HWY_ATTR {
    const auto deviation = hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, norm.mean + p));
    auto value = Normalized(d, norm, deviation, p);
    if (relu) {
      value = hn::IfThenElseZero(hn::Gt(value, hn::Zero(d)), value);
      value = hn::Min(value, hn::Set(d, ceiling));
    }
    hn::StoreU(value, d, y + i);
  });
}

// dy where the activation let the value pass.
template <class D, class V>
HWY_INLINE V Passed(D d, const PeriodicNorm& norm, float ceiling, V deviation, V dy, int64_t p) {
  if (norm.activation == Activation::kNone) return dy;
  const V value = Normalized(d, norm, deviation, p);
  return hn::IfThenElseZero(hn::And(hn::Gt(value, hn::Zero(d)), hn::Lt(value, hn::Set(d, ceiling))),
                            dy);
}

void AddGradients(const PeriodicNorm& norm, const float* x, const float* dy, int64_t elements,
                  float* gradients, float* products) {
  const auto ceiling = static_cast<float>(ActivationCeiling(norm.activation));
  ForEachVector(elements, norm.period, [=, &norm](auto d, int64_t i, int64_t p) HWY_ATTR {
    const auto deviation = hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, norm.mean + p));
    const auto gradient = Passed(d, norm, ceiling, deviation, hn::LoadU(d, dy + i), p);
    hn::StoreU(hn::Add(hn::LoadU(d, gradients + p), gradient), d, gradients + p);
    hn::StoreU(hn::MulAdd(gradient, deviation, hn::LoadU(d, products + p)), d, products + p);
  });
}

void GradientOfInput(const PeriodicNorm& norm, const float* constant, const float* slope,
                     const float* x, const float* dy, int64_t elements, float* dx) {
  const auto ceiling = static_cast<float>(ActivationCeiling(norm.activation));
  ForEachVector(elements, norm.period, [=, &norm](auto d, int64_t i, int64_t p) HWY_ATTR {
    const auto deviation = hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, norm.mean + p));
    const auto gradient = Passed(d, norm, ceiling, deviation, hn::LoadU(d, dy + i), p);
    const auto scaled =
        hn::MulSub(gradient, hn::LoadU(d, norm.factor + p), hn::LoadU(d, constant + p));
    hn::StoreU(hn::NegMulAdd(deviation, hn::LoadU(d, slope + p), scaled), d, dx + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardmill {

HWY_EXPORT(AddPeriods);
HWY_EXPORT(AddSquaredDeviations);
HWY_EXPORT(NormalizePeriods);
HWY_EXPORT(AddGradients);
HWY_EXPORT(GradientOfInput);

void AddPeriods(const float* x, int64_t elements, int64_t period, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddPeriods)(x, elements, period, sums);
}

void AddSquaredDeviations(const float* x, int64_t elements, int64_t period, const float* mean,
                          float* sums) {
  HWY_DYNAMIC_DISPATCH(AddSquaredDeviations)(x, elements, period, mean, sums);
}

void NormalizePeriods(const PeriodicNorm& norm, const float* x, int64_t elements, float* y) {
  HWY_DYNAMIC_DISPATCH(NormalizePeriods)(norm, x, elements, y);
}

void AddGradients(const PeriodicNorm& norm, const float* x, const float* dy, int64_t elements,
                  float* gradients, float* products) {
  HWY_DYNAMIC_DISPATCH(AddGradients)(norm, x, dy, elements, gradients, products);
}

void GradientOfInput(const PeriodicNorm& norm, const float* constant, const float* slope,
                     const float* x, const float* dy, int64_t elements, float* dx) {
  HWY_DYNAMIC_DISPATCH(GradientOfInput)(norm, constant, slope, x, dy, elements, dx);
}

}  // namespace shardmill
#endif  // HWY_ONCE
