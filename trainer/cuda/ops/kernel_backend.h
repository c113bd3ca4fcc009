// What KernelOps asks of a backend, and small parts that its layers share.
//
// A backend is an OpTable that has the memory, the streams and the convolutions, and one template
// more, which runs functor(index) for each index in [0, count), after what the stream holds:
//
//   template <typename Functor>
//   Status Launch(Stream& stream, int64_t count, const Functor& functor);
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/bfloat16.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

// Calls body(T{}) with the type of elements of the backend: float or Bfloat16.
template <typename Body>
Status WithKernelType(ElementType type, const Body& body) {
  SHARDMILL_CHECK(type == ElementType::kF32 || type == ElementType::kBf16);
  return type == ElementType::kF32 ? body(float{}) : body(Bfloat16{});
}

template <typename T>
const T* As(const void* memory) {
  return static_cast<const T*>(memory);
}

template <typename T>
T* As(void* memory) {
  return static_cast<T*>(memory);
}

// Hands out parts of a workspace one after the other; without memory it only measures.
class WorkspaceParts {
 public:
  explicit WorkspaceParts(void* memory) : memory_(static_cast<char*>(memory)) {}

  template <typename T>
  T* Take(int64_t count) {
    const int64_t at = bytes_;
    const int64_t size = count * static_cast<int64_t>(sizeof(T));
    bytes_ += (size + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + at);
  }
  int64_t bytes() const { return bytes_; }

 private:
  char* memory_;
  int64_t bytes_ = 0;
};

}  // namespace shardmill
