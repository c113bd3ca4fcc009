#include "trainer/ops/onednn/normalize_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/ops/onednn/normalize_kernels.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> LoadPixels(D d, const float* from) {
  return hn::LoadU(d, from);
}

template <class D, typename Stored>
HWY_INLINE hn::Vec<D> LoadPixels(D d, const Stored* from) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<Stored, D> stored;
  return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(stored, from)));
}

template <typename Stored>
HWY_INLINE void NormalizeTyped(const Stored* images, int64_t elements, int64_t period,
                               const float* mean, const float* factor, float* y) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> single;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(wide));
  const auto body = [=](auto d, int64_t i, int64_t p) HWY_ATTR {
    const auto deviation = hn::Sub(LoadPixels(d, images + i), hn::LoadU(d, mean + p));
    hn::StoreU(hn::Mul(deviation, hn::LoadU(d, factor + p)), d, y + i);
  };
  for (int64_t start = 0; start < elements; start += period) {
    const int64_t length = HWY_MIN(period, elements - start);
    int64_t p = 0;
    for (; p + lanes <= length; p += lanes) body(wide, start + p, p);
    for (; p < length; ++p) body(single, start + p, p);
  }
}

void NormalizePixels(ImageType type, const void* images, int64_t elements, int64_t period,
                     const float* mean, const float* factor, float* y) {
  if (type == ImageType::kU8) {
    NormalizeTyped(static_cast<const uint8_t*>(images), elements, period, mean, factor, y);
  } else if (type == ImageType::kU16) {
    NormalizeTyped(static_cast<const uint16_t*>(images), elements, period, mean, factor, y);
  } else {
    NormalizeTyped(static_cast<const float*>(images), elements, period, mean, factor, y);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardmill {

HWY_EXPORT(NormalizePixels);

void NormalizePixels(ImageType type, const void* images, int64_t elements, int64_t period,
                     const float* mean, const float* factor, float* y) {
  HWY_DYNAMIC_DISPATCH(NormalizePixels)(type, images, elements, period, mean, factor, y);
}

}  // namespace shardmill
#endif  // HWY_ONCE
