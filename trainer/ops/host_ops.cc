#include "trainer/ops/host_ops.h"

#include <sys/mman.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

namespace shardmill {
namespace {

class HostStream : public Stream {
 public:
  Status Synchronize() override { return OkStatus(); }
};

// Activations are read and written from end to end all the time: with pages of 2 MiB the
// processor misses far fewer translations (4 % of a training step). Advice only: where the system
// gives none, nothing is lost.
void AdviseHugePages(void* memory, size_t size) {
  constexpr uintptr_t kPage = 4096, kHugePage = uintptr_t{2} << 20;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + kPage - 1) / kPage * kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + size) / kPage * kPage;
  if (end < begin + 2 * kHugePage) return;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

template <typename T>
void Fold(const BatchNormFold& fold, T* weights, T* bias) {
  const auto at = [](const void* numbers, int64_t i) { return static_cast<const T*>(numbers)[i]; };
  const int64_t taps = fold.weights_per_channel;
  for (int64_t c = 0; c < fold.channels; ++c) {
    const double factor =
        at(fold.scale, c) / std::sqrt(static_cast<double>(at(fold.variance, c)) + fold.epsilon);
    const double own = fold.bias == nullptr ? 0.0 : at(fold.bias, c);
    bias[c] = static_cast<T>(at(fold.shift, c) + (own - at(fold.mean, c)) * factor);
    for (int64_t i = c * taps; i < (c + 1) * taps; ++i) {
      weights[i] = static_cast<T>(at(fold.weights, i) * factor);
    }
  }
}

}  // namespace

Result<void*> HostOps::Allocate(int64_t bytes) {
  SHARDMILL_CHECK(bytes >= 0);
  const int64_t whole = (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
  const size_t size = static_cast<size_t>(whole > 0 ? whole : kMemoryAlignment);
  void* memory = ::operator new (size, std::align_val_t{kMemoryAlignment}, std::nothrow);
  if (memory == nullptr) {
    return IoError("the operating system refused " + std::to_string(size) +
                   " bytes of memory for the model; use a smaller batch, smaller images " +
                   "or a narrower model");
  }
  AdviseHugePages(memory, size);  // before the first touch
  std::memset(memory, 0, size);
  return memory;
}

void HostOps::Free(void* memory) { ::operator delete (memory, std::align_val_t{kMemoryAlignment}); }

Result<std::unique_ptr<Stream>> HostOps::CreateStream() {
  return std::unique_ptr<Stream>(new HostStream);
}

Status HostOps::CopyFromHost(Stream&, const void* host, int64_t bytes, void* memory) {
  if (bytes > 0) std::memcpy(memory, host, static_cast<size_t>(bytes));
  return OkStatus();
}

Status HostOps::CopyToHost(Stream&, const void* memory, int64_t bytes, void* host) {
  if (bytes > 0) std::memcpy(host, memory, static_cast<size_t>(bytes));
  return OkStatus();
}

Status HostOps::SetZero(Stream&, int64_t bytes, void* memory) {
  if (bytes > 0) std::memset(memory, 0, static_cast<size_t>(bytes));
  return OkStatus();
}

Status HostOps::FoldBatchNorm(Stream&, const BatchNormFold& fold, void* weights, void* bias) {
  if (element_type() == ElementType::kF64) {
    Fold(fold, static_cast<double*>(weights), static_cast<double*>(bias));
  } else {
    SHARDMILL_CHECK(element_type() == ElementType::kF32);
    Fold(fold, static_cast<float*>(weights), static_cast<float*>(bias));
  }
  return OkStatus();
}

}  // namespace shardmill
