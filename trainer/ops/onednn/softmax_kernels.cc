#include "trainer/ops/onednn/softmax_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/ops/onednn/softmax_kernels.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The first `count` lanes from memory, `fill` in the others. Never reads behind them: from AVX2
// on masked loads do not touch the memory of lanes that are off; before, lane by lane.
template <class D, class V>
HWY_INLINE V LoadFirst(D d, const float* from, int64_t count, V fill) {
#if HWY_TARGET <= HWY_AVX2
  const auto mask = hn::FirstN(d, static_cast<size_t>(count));
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, d, from), fill);
#else
  HWY_ALIGN float lanes[16];
  hn::Store(fill, d, lanes);
  for (int64_t i = 0; i < count; ++i) lanes[i] = from[i];
  return hn::Load(d, lanes);
#endif
}

template <class D, class V>
HWY_INLINE void StoreFirst(D d, V values, int64_t count, float* to) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(values, hn::FirstN(d, static_cast<size_t>(count)), d, to);
#else
  HWY_ALIGN float lanes[16];
  hn::Store(values, d, lanes);
  for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
#endif
}

// exp of the difference to the largest logit. What is below the smallest normal number counts as
// zero, which keeps the fill value of missing classes out of the sum.
template <class D, class V>
HWY_INLINE V ExpBelowMaximum(D d, V logit, V maximum) {
  const V difference = hn::Sub(logit, maximum);
  return hn::IfThenElseZero(hn::Gt(difference, hn::Set(d, -87.0f)), hn::Exp(d, difference));
}

// Calls body(first class, count) for each vector of classes.
template <class Body>
HWY_INLINE void ForEachVector(int64_t lanes, int64_t classes, const Body& body) {
  for (int64_t k = 0; k < classes; k += lanes) body(k, HWY_MIN(lanes, classes - k));
}

// The sum of the exponentials; its logarithm would be the same for each lane, so the caller takes
// it for many pixels at once.
template <class D>
HWY_INLINE void SoftmaxPixel(D d, const float* logits, int64_t classes, float factor,
                             float* gradients, float* maximum, float* sum) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto lowest = hn::Set(d, -3.0e38f);
  auto largest = lowest;
  ForEachVector(lanes, classes, [&](int64_t k, int64_t count) HWY_ATTR {
    largest = hn::Max(largest, LoadFirst(d, logits + k, count, lowest));
  });
  largest = hn::MaxOfLanes(d, largest);
  auto total = hn::Zero(d);
  ForEachVector(lanes, classes, [&](int64_t k, int64_t count) HWY_ATTR {
    total = hn::Add(total, ExpBelowMaximum(d, LoadFirst(d, logits + k, count, lowest), largest));
  });
  total = hn::SumOfLanes(d, total);
  *maximum = hn::GetLane(largest);
  *sum = hn::GetLane(total);
  if (gradients == nullptr) return;
  const auto scale = hn::Set(d, factor == 0 ? 0.0f : factor / *sum);
  ForEachVector(lanes, classes, [&](int64_t k, int64_t count) HWY_ATTR {
    const auto e = ExpBelowMaximum(d, LoadFirst(d, logits + k, count, lowest), largest);
    // A product with zero would turn infinite logits of ignored pixels into NaN.
    StoreFirst(d, factor == 0 ? hn::Zero(d) : hn::Mul(e, scale), count, gradients + k);
  });
}

void SoftmaxPixels(const float* logits, int64_t pixels, int64_t classes, const float* factors,
                   float* gradients, float* log_sums) {
  constexpr int64_t kGroup = 64;
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN float maxima[kGroup];
  HWY_ALIGN float sums[kGroup];
  for (int64_t i = 0; i < kGroup; ++i) maxima[i] = sums[i] = 1;
  for (int64_t start = 0; start < pixels; start += kGroup) {
    const int64_t group = HWY_MIN(kGroup, pixels - start);
    for (int64_t p = 0; p < group; ++p) {
      const int64_t first = (start + p) * classes;
      SoftmaxPixel(d, logits + first, classes, factors == nullptr ? 0.0f : factors[start + p],
                   gradients == nullptr ? nullptr : gradients + first, maxima + p, sums + p);
    }
    for (int64_t p = 0; p < group; p += lanes) {
      const auto result = hn::Add(hn::Load(d, maxima + p), hn::Log(d, hn::Load(d, sums + p)));
      StoreFirst(d, result, HWY_MIN(lanes, group - p), log_sums + start + p);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardmill {

HWY_EXPORT(SoftmaxPixels);

void SoftmaxPixels(const float* logits, int64_t pixels, int64_t classes, const float* factors,
                   float* gradients, float* log_sums) {
  HWY_DYNAMIC_DISPATCH(SoftmaxPixels)(logits, pixels, classes, factors, gradients, log_sums);
}

}  // namespace shardmill
#endif  // HWY_ONCE
