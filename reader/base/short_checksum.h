// XXH3-64 of short data, compiled in instead of called in the library: for a hundred bytes the
// way into the library takes as long as the sum. Part of checksum.h.
#pragma once

#include <cstdint>

namespace shardmill {

// Up to here XXH3 needs no vector instructions, so that nothing has to be picked at run time.
constexpr uint64_t kShortChecksumBytes = 240;

// Requires bytes <= kShortChecksumBytes.
uint64_t ShortChecksum64(const void* data, uint64_t bytes);

}  // namespace shardmill
