#include "tests/trainer/allocation_counter.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace shardmill {
namespace {

std::atomic<int64_t> count{0};
std::atomic<int64_t> largest{0};

void* Counted(std::size_t bytes, std::size_t alignment) {
  ++count;
  int64_t before = largest;
  while (before < static_cast<int64_t>(bytes) &&
         !largest.compare_exchange_weak(before, static_cast<int64_t>(bytes))) {
  }
  if (bytes == 0) bytes = 1;
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    memory = std::malloc(bytes);
  } else if (posix_memalign(&memory, alignment, bytes) != 0) {
    memory = nullptr;
  }
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

AllocationCounter::AllocationCounter() {
  count = 0;
  largest = 0;
}

int64_t AllocationCounter::allocations() const { return count; }
int64_t AllocationCounter::largest_bytes() const { return largest; }

}  // namespace shardmill

void* operator new(std::size_t bytes) { return shardmill::Counted(bytes, 1); }
void* operator new[](std::size_t bytes) { return shardmill::Counted(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return shardmill::Counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return shardmill::Counted(bytes, static_cast<std::size_t>(alignment));
}
// The sanitizers bring these forms too; all must take from the same heap.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return shardmill::Counted(bytes, 1);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return shardmill::Counted(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return shardmill::Counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
