#include "tools/pack/records/pixel_sums.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tools/pack/records/pixel_sums.cc"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void AddSums(const uint8_t* rgb, uint64_t pixels, RgbSums* sums) {
  AddRgbSumsPlainly(rgb, pixels, sums);
}
#else

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<uint8_t>;
using Shorts = hn::RepartitionToWide<Bytes>;
using SignedShorts = hn::RebindToSigned<Shorts>;
using Ints = hn::RepartitionToWide<SignedShorts>;
using Longs = hn::Repartition<uint64_t, Bytes>;

// Lanes of 32 bits take four squares per step, each below 2^16; they are emptied in time.
constexpr uint64_t kStepsPerFlush = 8000;

// Adds one channel of one step. (No struct of vectors: its implicit constructors would be compiled
// for the wrong instruction set.)
HWY_INLINE void AddChannel(hn::Vec<Bytes> values, hn::Vec<Longs>& sum, hn::Vec<Ints>& squares0,
                           hn::Vec<Ints>& squares1) {
  const SignedShorts shorts;
  const hn::Half<Bytes> half;
  sum = hn::Add(sum, hn::SumsOf8(values));
  const auto low = hn::PromoteTo(shorts, hn::LowerHalf(half, values));
  const auto high = hn::PromoteTo(shorts, hn::UpperHalf(half, values));
  squares0 = hn::ReorderWidenMulAccumulate(Ints(), low, low, squares0, squares1);
  squares0 = hn::ReorderWidenMulAccumulate(Ints(), high, high, squares0, squares1);
}

HWY_INLINE uint64_t TotalOf(hn::Vec<Longs> lanes) {
  return hn::GetLane(hn::SumOfLanes(Longs(), lanes));
}

HWY_INLINE uint64_t TotalOf(hn::Vec<Ints> lanes) {
  HWY_ALIGN int32_t values[hn::MaxLanes(Ints())];
  hn::Store(lanes, Ints(), values);
  uint64_t total = 0;
  for (size_t i = 0; i < hn::Lanes(Ints()); ++i) total += static_cast<uint64_t>(values[i]);
  return total;
}

// `steps` steps of one vector of pixels each; at most kStepsPerFlush.
HWY_INLINE void AddSteps(const uint8_t* rgb, uint64_t steps, RgbSums* sums) {
  const Bytes bytes;
  auto sum_r = hn::Zero(Longs()), sum_g = sum_r, sum_b = sum_r;
  auto r0 = hn::Zero(Ints()), r1 = r0, g0 = r0, g1 = r0, b0 = r0, b1 = r0;
  for (; steps > 0; --steps, rgb += 3 * hn::Lanes(bytes)) {
    hn::Vec<Bytes> r, g, b;
    hn::LoadInterleaved3(bytes, rgb, r, g, b);
    AddChannel(r, sum_r, r0, r1);
    AddChannel(g, sum_g, g0, g1);
    AddChannel(b, sum_b, b0, b1);
  }
  sums->sum[0] += TotalOf(sum_r);
  sums->sum[1] += TotalOf(sum_g);
  sums->sum[2] += TotalOf(sum_b);
  sums->sum_sq[0] += TotalOf(r0) + TotalOf(r1);
  sums->sum_sq[1] += TotalOf(g0) + TotalOf(g1);
  sums->sum_sq[2] += TotalOf(b0) + TotalOf(b1);
}

void AddSums(const uint8_t* rgb, uint64_t pixels, RgbSums* sums) {
  const uint64_t step = hn::Lanes(Bytes());
  while (pixels >= step) {
    const uint64_t steps = std::min(pixels / step, kStepsPerFlush);
    AddSteps(rgb, steps, sums);
    rgb += 3 * steps * step;
    pixels -= steps * step;
  }
  AddRgbSumsPlainly(rgb, pixels, sums);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardmill {

HWY_EXPORT(AddSums);

void AddRgbSums(const uint8_t* rgb, uint64_t pixels, RgbSums* sums) {
  HWY_DYNAMIC_DISPATCH(AddSums)(rgb, pixels, sums);
}

void AddRgbSumsPlainly(const uint8_t* rgb, uint64_t pixels, RgbSums* sums) {
  for (uint64_t i = 0; i < pixels; ++i, rgb += 3) {
    for (int c = 0; c < 3; ++c) {
      sums->sum[c] += rgb[c];
      sums->sum_sq[c] += uint32_t{rgb[c]} * rgb[c];
    }
  }
}

}  // namespace shardmill
#endif
