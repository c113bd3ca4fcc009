// Stores past the caches, for output that is larger than they are: nothing of it is read from
// memory before it is written, and nothing else is pushed out. Pure functions, one version per
// instruction set, chosen at run time.
#pragma once

#include <cstdint>

namespace shardmill {

// Copies `count` floats, a multiple of 16; both ranges are 64-byte aligned. Returns false, and has
// written nothing, on processors whose vectors are so narrow that ordinary stores are faster.
bool StreamFloats(const float* from, uint64_t count, float* out);

// To be called before another thread may look at what was stored.
void FinishStream();

}  // namespace shardmill
