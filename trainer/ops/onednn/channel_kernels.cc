#include "trainer/ops/onednn/channel_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/ops/onednn/channel_kernels.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Calls body(tag, c) for as many whole vectors as fit from channel `c` on.
template <class D, class Body>
HWY_INLINE int64_t WholeVectors(D d, int64_t c, int64_t channels, const Body& body) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; c + lanes <= channels; c += lanes) body(d, c);
  return c;
}

// Cuts the channels into vectors of 16, 8, 4 and 1 lanes: few channels are the common case, and
// each is then handled by the widest vector that fits.
template <class Body>
HWY_INLINE void ForEachChannelVector(int64_t channels, const Body& body) {
  int64_t c = WholeVectors(hn::CappedTag<float, 16>(), 0, channels, body);
  c = WholeVectors(hn::CappedTag<float, 8>(), c, channels, body);
  c = WholeVectors(hn::CappedTag<float, 4>(), c, channels, body);
  WholeVectors(hn::CappedTag<float, 1>(), c, channels, body);
}

void CopyChannels(const PixelRun& run, const float* source, float* destination) {
  for (int64_t p = 0; p < run.pixels; ++p) {
    const float* from = source + p * run.source_stride;
    float* to = destination + p * run.destination_stride;
    ForEachChannelVector(run.channels, [=](auto d, int64_t c) HWY_ATTR {
      hn::StoreU(hn::LoadU(d, from + c), d, to + c);
    });
  }
}

void AddChannels(const PixelRun& run, const float* source, float* destination) {
  for (int64_t p = 0; p < run.pixels; ++p) {
    const float* from = source + p * run.source_stride;
    float* to = destination + p * run.destination_stride;
    ForEachChannelVector(run.channels, [=](auto d, int64_t c) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, to + c), hn::LoadU(d, from + c)), d, to + c);
    });
  }
}

template <class D>
HWY_INLINE void MaxOfWindow(D d, const WindowRun& run, const float* window, float* y,
                            uint8_t* indices) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<uint8_t, D> du8;
  auto best = hn::LoadU(d, window + run.offsets[0]);
  auto index = hn::Set(di, run.numbers[0]);
  for (int t = 1; t < run.taps; ++t) {
    const auto value = hn::LoadU(d, window + run.offsets[t]);
    const auto larger = hn::Gt(value, best);
    best = hn::IfThenElse(larger, value, best);
    index = hn::IfThenElse(hn::RebindMask(di, larger), hn::Set(di, run.numbers[t]), index);
  }
  hn::StoreU(best, d, y);
  hn::StoreU(hn::DemoteTo(du8, index), du8, indices);
}

void MaxOfWindows(const WindowRun& run, const float* first, float* y, uint8_t* indices) {
  for (int64_t i = 0; i < run.windows; ++i) {
    const float* window = first + i * run.window_stride;
    const int64_t output = i * run.channels;
    ForEachChannelVector(run.channels, [=, &run](auto d, int64_t c) HWY_ATTR {
      MaxOfWindow(d, run, window + c, y + output + c, indices + output + c);
    });
  }
}

template <class D>
HWY_INLINE void SpreadOverWindow(D d, const WindowRun& run, const float* dy, const uint8_t* indices,
                                 bool add, float* window) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<uint8_t, D> du8;
  const auto gradient = hn::LoadU(d, dy);
  const auto index = hn::PromoteTo(di, hn::LoadU(du8, indices));
  for (int t = 0; t < run.taps; ++t) {
    float* tap = window + run.offsets[t];
    const auto mine = hn::Eq(index, hn::Set(di, run.numbers[t]));
    const auto share = hn::IfThenElseZero(hn::RebindMask(d, mine), gradient);
    hn::StoreU(add ? hn::Add(hn::LoadU(d, tap), share) : share, d, tap);
  }
}

void SpreadOverWindows(const WindowRun& run, const float* dy, const uint8_t* indices, bool add,
                       float* first) {
  for (int64_t i = 0; i < run.windows; ++i) {
    float* window = first + i * run.window_stride;
    const int64_t output = i * run.channels;
    ForEachChannelVector(run.channels, [=, &run](auto d, int64_t c) HWY_ATTR {
      SpreadOverWindow(d, run, dy + output + c, indices + output + c, add, window + c);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardmill {

HWY_EXPORT(CopyChannels);
HWY_EXPORT(AddChannels);
HWY_EXPORT(MaxOfWindows);
HWY_EXPORT(SpreadOverWindows);

void CopyChannels(const PixelRun& run, const float* source, float* destination) {
  HWY_DYNAMIC_DISPATCH(CopyChannels)(run, source, destination);
}

void AddChannels(const PixelRun& run, const float* source, float* destination) {
  HWY_DYNAMIC_DISPATCH(AddChannels)(run, source, destination);
}

void MaxOfWindows(const WindowRun& run, const float* first, float* y, uint8_t* indices) {
  HWY_DYNAMIC_DISPATCH(MaxOfWindows)(run, first, y, indices);
}

void SpreadOverWindows(const WindowRun& run, const float* dy, const uint8_t* indices, bool add,
                       float* first) {
  HWY_DYNAMIC_DISPATCH(SpreadOverWindows)(run, dy, indices, add, first);
}

}  // namespace shardmill
#endif  // HWY_ONCE
