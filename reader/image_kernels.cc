#include "reader/image_kernels.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reader/image_kernels.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> LoadValues(D d, const float* from) {
  return hn::LoadU(d, from);
}

template <class D, typename Stored>
HWY_INLINE hn::Vec<D> LoadValues(D d, const Stored* from) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<Stored, D> stored;
  return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(stored, from)));
}

template <typename Stored>
HWY_INLINE void NormalizeTyped(const uint8_t* in, uint64_t count, uint64_t period,
                               const float* mean, const float* factor, float* out) {
  const hn::ScalableTag<float> wide;
  const uint64_t lanes = hn::Lanes(wide);
  for (uint64_t start = 0; start < count; start += period) {
    const uint64_t length = HWY_MIN(period, count - start);
    uint64_t p = 0;
    for (; p + lanes <= length; p += lanes) {
      const auto* from = reinterpret_cast<const Stored*>(in + (start + p) * sizeof(Stored));
      const auto deviation = hn::Sub(LoadValues(wide, from), hn::LoadU(wide, mean + p));
      hn::StoreU(hn::Mul(deviation, hn::LoadU(wide, factor + p)), wide, out + start + p);
    }
    for (; p < length; ++p) {
      Stored value;
      std::memcpy(&value, in + (start + p) * sizeof(Stored), sizeof(Stored));
      out[start + p] = (static_cast<float>(value) - mean[p]) * factor[p];
    }
  }
}

void NormalizeValues(DType dtype, const uint8_t* in, uint64_t count, uint64_t period,
                     const float* mean, const float* factor, float* out) {
  if (dtype == DType::kU8) {
    NormalizeTyped<uint8_t>(in, count, period, mean, factor, out);
  } else if (dtype == DType::kU16) {
    NormalizeTyped<uint16_t>(in, count, period, mean, factor, out);
  } else {
    NormalizeTyped<float>(in, count, period, mean, factor, out);
  }
}

// What whole vectors leave over, and channel counts that have no vector code. Channel by channel:
// reading with a stride costs less than writing to many planes at once.
template <typename Stored>
HWY_INLINE void SplitRest(const uint8_t* in, uint64_t first, uint64_t pixels, uint64_t channels,
                          uint64_t plane_stride, Stored* planes) {
  for (uint64_t c = 0; c < channels; ++c) {
    const uint8_t* from = in + (first * channels + c) * sizeof(Stored);
    Stored* plane = planes + c * plane_stride;
    for (uint64_t i = first; i < pixels; ++i, from += channels * sizeof(Stored)) {
      std::memcpy(plane + i, from, sizeof(Stored));
    }
  }
}

template <typename Stored>
HWY_INLINE void SplitTyped(const uint8_t* in, uint64_t pixels, uint64_t channels,
                           uint64_t plane_stride, Stored* planes) {
  const hn::ScalableTag<Stored> d;
  const uint64_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> v0, v1, v2, v3;
  uint64_t i = 0;
  const auto from = [&] { return reinterpret_cast<const Stored*>(in) + i * channels; };
  if (channels == 3) {
    for (; i + lanes <= pixels; i += lanes) {
      hn::LoadInterleaved3(d, from(), v0, v1, v2);
      hn::StoreU(v0, d, planes + i);
      hn::StoreU(v1, d, planes + plane_stride + i);
      hn::StoreU(v2, d, planes + 2 * plane_stride + i);
    }
  } else if (channels == 4) {
    for (; i + lanes <= pixels; i += lanes) {
      hn::LoadInterleaved4(d, from(), v0, v1, v2, v3);
      hn::StoreU(v0, d, planes + i);
      hn::StoreU(v1, d, planes + plane_stride + i);
      hn::StoreU(v2, d, planes + 2 * plane_stride + i);
      hn::StoreU(v3, d, planes + 3 * plane_stride + i);
    }
  }
  SplitRest(in, i, pixels, channels, plane_stride, planes);
}

void SplitChannels(DType dtype, const uint8_t* in, uint64_t pixels, uint64_t channels,
                   uint64_t plane_stride, uint8_t* planes) {
  if (dtype == DType::kU8) {
    SplitTyped<uint8_t>(in, pixels, channels, plane_stride, planes);
  } else if (dtype == DType::kU16) {
    SplitTyped<uint16_t>(in, pixels, channels, plane_stride, reinterpret_cast<uint16_t*>(planes));
  } else {
    SplitTyped<float>(in, pixels, channels, plane_stride, reinterpret_cast<float*>(planes));
  }
}

// The sums stay below 2^31: factors are below 12 (see ColorChange), samples below 2^8, and so is
// the offset after the limits of brightness and mean.
uint64_t MapColorVectors(const ColorMap& map, uint64_t pixels, uint8_t* rgb) {
  const hn::ScalableTag<int32_t> wide;
  const hn::Rebind<uint8_t, decltype(wide)> narrow;
  using V = hn::Vec<decltype(wide)>;
  const uint64_t lanes = hn::Lanes(wide);
  const auto offset = hn::Set(wide, static_cast<int32_t>(map.offset));
  const auto level = [&](size_t c, V red, V green, V blue) HWY_ATTR {
    const auto& factor = map.factor[c];
    V sum = hn::Add(offset, hn::Mul(red, hn::Set(wide, factor[0])));
    sum = hn::Add(sum, hn::Mul(green, hn::Set(wide, factor[1])));
    sum = hn::Add(sum, hn::Mul(blue, hn::Set(wide, factor[2])));
    // Demotion limits to 0 … 255.
    return hn::DemoteTo(narrow, hn::ShiftRight<ColorMap::kBits>(sum));
  };
  uint64_t i = 0;
  for (; i + lanes <= pixels; i += lanes, rgb += 3 * lanes) {
    hn::Vec<decltype(narrow)> r, g, b;
    hn::LoadInterleaved3(narrow, rgb, r, g, b);
    const V red = hn::PromoteTo(wide, r);
    const V green = hn::PromoteTo(wide, g);
    const V blue = hn::PromoteTo(wide, b);
    hn::StoreInterleaved3(level(0, red, green, blue), level(1, red, green, blue),
                          level(2, red, green, blue), narrow, rgb);
  }
  return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardmill {

HWY_EXPORT(NormalizeValues);
HWY_EXPORT(SplitChannels);
HWY_EXPORT(MapColorVectors);

void NormalizeValues(DType dtype, const uint8_t* in, uint64_t count, uint64_t period,
                     const float* mean, const float* factor, float* out) {
  HWY_DYNAMIC_DISPATCH(NormalizeValues)(dtype, in, count, period, mean, factor, out);
}

void SplitChannels(DType dtype, const uint8_t* in, uint64_t pixels, uint64_t channels,
                   uint64_t plane_stride, uint8_t* planes) {
  HWY_DYNAMIC_DISPATCH(SplitChannels)(dtype, in, pixels, channels, plane_stride, planes);
}

uint64_t MapColorVectors(const ColorMap& map, uint64_t pixels, uint8_t* rgb) {
  return HWY_DYNAMIC_DISPATCH(MapColorVectors)(map, pixels, rgb);
}

}  // namespace shardmill
#endif  // HWY_ONCE
