// Memory on its own huge pages where the system has them, written once so that it is there.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace shardmill {

struct FreeMemory {
  void operator()(uint8_t* memory) const { std::free(memory); }
};
using AlignedBuffer = std::unique_ptr<uint8_t, FreeMemory>;

// Null when there is not enough memory.
inline AlignedBuffer MakeAlignedBuffer(uint64_t bytes) {
  constexpr uint64_t kHugePage = uint64_t{2} << 20;
  const uint64_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  AlignedBuffer buffer(static_cast<uint8_t*>(std::aligned_alloc(kHugePage, rounded)));
  if (buffer == nullptr) return buffer;
  madvise(buffer.get(), rounded, MADV_HUGEPAGE);
  std::memset(buffer.get(), 1, rounded);
  return buffer;
}

}  // namespace shardmill
