#include "reader/stream_store.h"

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reader/stream_store.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

bool StreamFloats(const float* from, uint64_t count, float* out) {
  constexpr uint64_t kFewestLanes = 8;
  const hn::CappedTag<float, 16> vector;
  const uint64_t lanes = hn::Lanes(vector);
  if (lanes < kFewestLanes) return false;
  for (uint64_t i = 0; i < count; i += lanes) {
    hn::Stream(hn::Load(vector, from + i), vector, out + i);
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardmill {

HWY_EXPORT(StreamFloats);

bool StreamFloats(const float* from, uint64_t count, float* out) {
  return HWY_DYNAMIC_DISPATCH(StreamFloats)(from, count, out);
}

void FinishStream() { hwy::FlushStream(); }

}  // namespace shardmill
#endif  // HWY_ONCE
