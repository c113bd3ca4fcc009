#include "trainer/ops/host_ops.h"

#include <cstring>
#include <new>
#include <string>

namespace shardmill {
namespace {

class HostStream : public Stream {
 public:
  Status Synchronize() override { return OkStatus(); }
};

}  // namespace

Result<void*> HostOps::Allocate(int64_t bytes) {
  SHARDMILL_CHECK(bytes >= 0);
  const int64_t whole = (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
  const size_t size = static_cast<size_t>(whole > 0 ? whole : kMemoryAlignment);
  void* memory = ::operator new(size, std::align_val_t{kMemoryAlignment}, std::nothrow);
  if (memory == nullptr) {
    return UnavailableError("the operating system refused " + std::to_string(size) +
                            " bytes of memory for the model; use a smaller batch, smaller images " +
                            "or a narrower model");
  }
  std::memset(memory, 0, size);
  return memory;
}

void HostOps::Free(void* memory) {
  ::operator delete(memory, std::align_val_t{kMemoryAlignment});
}

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

}  // namespace shardmill
