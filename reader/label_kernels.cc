#include "reader/label_kernels.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reader/label_kernels.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE uint8_t ByteOf(uint32_t id) { return static_cast<uint8_t>(id < 255 ? id : 255); }

// Whole vectors per pixel. What a pixel writes behind its own bytes is written over by the pixels
// behind it, so only those at the end, whose vectors would leave the range, go byte by byte.
template <class D>
HWY_INLINE void WriteOneHotWith(D d, const uint32_t* ids, uint64_t count, uint32_t classes,
                                uint8_t* out) {
  const uint64_t lanes = hn::Lanes(d);
  const uint64_t vectors = (classes + lanes - 1) / lanes;
  const uint64_t end = count * classes;
  const auto one = hn::Set(d, uint8_t{1});
  uint64_t i = 0;
  for (; i < count && i * classes + vectors * lanes <= end; ++i) {
    const auto id = hn::Set(d, ByteOf(ids[i]));
    uint8_t* pixel = out + i * classes;
    auto position = hn::Iota(d, uint8_t{0});
    for (uint64_t v = 0; v < vectors; ++v) {
      const auto match = hn::VecFromMask(d, hn::Eq(id, position));
      hn::StoreU(hn::And(match, one), d, pixel + v * lanes);
      position = hn::Add(position, hn::Set(d, static_cast<uint8_t>(lanes)));
    }
  }
  for (; i < count; ++i) {
    std::memset(out + i * classes, 0, classes);
    if (ids[i] < classes) out[i * classes + ids[i]] = 1;
  }
}

void WriteOneHotU8(const uint32_t* ids, uint64_t count, uint32_t classes, uint8_t* out) {
  if (classes <= 16) {
    WriteOneHotWith(hn::CappedTag<uint8_t, 16>(), ids, count, classes, out);
  } else {
    WriteOneHotWith(hn::CappedTag<uint8_t, 32>(), ids, count, classes, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardmill {

HWY_EXPORT(WriteOneHotU8);

void WriteOneHotU8(const uint32_t* ids, uint64_t count, uint32_t classes, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(WriteOneHotU8)(ids, count, classes, out);
}

}  // namespace shardmill
#endif  // HWY_ONCE
