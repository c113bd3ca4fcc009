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

// What the gradient's exponentials are multiplied by. A product with zero would turn the infinite
// logits of an ignored pixel into NaN, so zero is a case of its own.
template <class D, class V>
HWY_INLINE void StoreGradient(D d, V exponential, float factor, float sum, int64_t count,
                              float* gradient) {
  const V value = factor == 0 ? hn::Zero(d) : hn::Mul(exponential, hn::Set(d, factor / sum));
  StoreFirst(d, value, count, gradient);
}

// A pixel whose classes fit into one vector: the common case.
template <class D>
HWY_INLINE void NarrowPixel(D d, const float* logits, int64_t classes, float factor,
                            float* gradient, float* maximum, float* sum) {
  const auto lowest = hn::Set(d, -3.0e38f);
  const auto values = LoadFirst(d, logits, classes, lowest);
  const auto largest = hn::MaxOfLanes(d, values);
  const auto exponentials = ExpBelowMaximum(d, values, largest);
  *maximum = hn::GetLane(largest);
  *sum = hn::GetLane(hn::SumOfLanes(d, exponentials));
  if (gradient != nullptr) StoreGradient(d, exponentials, factor, *sum, classes, gradient);
}

template <class D>
HWY_INLINE void WidePixel(D d, const float* logits, int64_t classes, float factor, float* gradient,
                          float* maximum, float* sum) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto lowest = hn::Set(d, -3.0e38f);
  auto largest = lowest;
  ForEachVector(lanes, classes, [&](int64_t k, int64_t count) HWY_ATTR {
    largest = hn::Max(largest, LoadFirst(d, logits + k, count, lowest));
  });
  largest = hn::MaxOfLanes(d, largest);
  auto total = hn::Zero(d);
  ForEachVector(lanes, classes, [&](int64_t k, int64_t count) HWY_ATTR {
    const auto exponentials = ExpBelowMaximum(d, LoadFirst(d, logits + k, count, lowest), largest);
    total = hn::Add(total, exponentials);
    if (gradient != nullptr) StoreFirst(d, exponentials, count, gradient + k);
  });
  *maximum = hn::GetLane(largest);
  *sum = hn::GetLane(hn::SumOfLanes(d, total));
  if (gradient == nullptr) return;
  ForEachVector(lanes, classes, [&](int64_t k, int64_t count) HWY_ATTR {
    const auto exponentials = LoadFirst(d, gradient + k, count, lowest);
    StoreGradient(d, exponentials, factor, *sum, count, gradient + k);
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
      float* gradient = gradients == nullptr ? nullptr : gradients + first;
      const float factor = factors[start + p];
      if (classes <= lanes) {
        NarrowPixel(d, logits + first, classes, factor, gradient, maxima + p, sums + p);
      } else {
        WidePixel(d, logits + first, classes, factor, gradient, maxima + p, sums + p);
      }
    }
    for (int64_t p = 0; p < group; p += lanes) {
      const auto result = hn::Add(hn::Load(d, maxima + p), hn::Log(d, hn::Load(d, sums + p)));
      StoreFirst(d, result, HWY_MIN(lanes, group - p), log_sums + start + p);
    }
  }
}

// The first class of the largest logit.
template <class D>
HWY_INLINE int64_t LargestClass(D d, const float* logits, int64_t classes) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto lowest = hn::Set(d, -hwy::HighestValue<float>());
  auto largest = lowest;
  ForEachVector(lanes, classes, [&](int64_t k, int64_t count) HWY_ATTR {
    largest = hn::Max(largest, LoadFirst(d, logits + k, count, lowest));
  });
  largest = hn::MaxOfLanes(d, largest);
  for (int64_t k = 0; k < classes; k += lanes) {
    const auto values = LoadFirst(d, logits + k, HWY_MIN(lanes, classes - k), lowest);
    const intptr_t lane = hn::FindFirstTrue(d, hn::Eq(values, largest));
    if (lane >= 0) return HWY_MIN(k + lane, classes - 1);
  }
  return 0;  // nothing but NaN
}

void ArgmaxPixels(const float* logits, int64_t pixels, int64_t classes, uint16_t* largest) {
  const hn::ScalableTag<float> d;
  for (int64_t p = 0; p < pixels; ++p) {
    largest[p] = static_cast<uint16_t>(LargestClass(d, logits + p * classes, classes));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardmill {

HWY_EXPORT(SoftmaxPixels);
HWY_EXPORT(ArgmaxPixels);

void SoftmaxPixels(const float* logits, int64_t pixels, int64_t classes, const float* factors,
                   float* gradients, float* log_sums) {
  HWY_DYNAMIC_DISPATCH(SoftmaxPixels)(logits, pixels, classes, factors, gradients, log_sums);
}

void ArgmaxPixels(const float* logits, int64_t pixels, int64_t classes, uint16_t* largest) {
  HWY_DYNAMIC_DISPATCH(ArgmaxPixels)(logits, pixels, classes, largest);
}

}  // namespace shardmill
#endif  // HWY_ONCE
