#include "reader/base/short_checksum.h"

// In a file of its own: inlined functions and those of the library cannot be had in one.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "reader/base/checksum.h"

namespace shardmill {

uint64_t ShortChecksum64(const void* data, uint64_t bytes) { return XXH3_64bits(data, bytes); }

void Checksum64Each(const uint8_t* begin, const uint64_t* bounds, size_t pieces, uint64_t* sums) {
  for (size_t i = 0; i < pieces; ++i) {
    const uint64_t bytes = bounds[i + 1] - bounds[i];
    sums[i] = bytes <= kShortChecksumBytes ? XXH3_64bits(begin + bounds[i], bytes)
                                           : Checksum64(begin + bounds[i], bytes);
  }
}

}  // namespace shardmill
