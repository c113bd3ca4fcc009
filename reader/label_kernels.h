// The vector code behind LabelExpander: one version per instruction set, chosen at run time.
// Pure functions.
#pragma once

#include <cstdint>

namespace shardmill {

// Up to this many classes, class ids and "no class" fit a byte.
constexpr uint32_t kMaxOneHotU8Classes = 255;

// out[i * classes + k] = (ids[i] == k) for i < count; an id of 255 or more is no class. Requires
// 1 <= classes <= kMaxOneHotU8Classes. Writes exactly count * classes bytes.
void WriteOneHotU8(const uint32_t* ids, uint64_t count, uint32_t classes, uint8_t* out);

}  // namespace shardmill
