// A backend of KernelOps that keeps the rules of a GPU, on the host and strictly.
//
// Nothing runs before the stream is synchronized, and memory of the device cannot be touched but by
// what runs then: the process dies otherwise. So code that reads a result too early, or uses
// device memory on the host, fails here as it would on a GPU, and otherwise gives the very bits of
// the kernels on the host.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "trainer/cuda/ops/kernel_ops.h"
#include "trainer/ops/op_table.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {

// The memory of all devices of this process.
class GuardedMemory {
 public:
  void* Allocate(int64_t bytes, bool shared) {
    const size_t size = RoundUp(bytes);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SHARDMILL_CHECK(memory != MAP_FAILED);
    blocks_[memory] = {size, shared};
    if (!shared) Protect(memory, size, PROT_NONE);
    return memory;
  }
  void Free(void* memory) {
    const auto block = blocks_.find(memory);
    if (block == blocks_.end()) return;
    SHARDMILL_CHECK(munmap(memory, block->second.size) == 0);
    blocks_.erase(block);
  }
  void Open() { ProtectAll(PROT_READ | PROT_WRITE); }
  void Close() { ProtectAll(PROT_NONE); }

 private:
  struct Block {
    size_t size = 0;
    bool shared = false;
  };
  static size_t RoundUp(int64_t bytes) { return (static_cast<size_t>(bytes) + 4096) / 4096 * 4096; }
  static void Protect(void* memory, size_t size, int protection) {
    SHARDMILL_CHECK(mprotect(memory, size, protection) == 0);
  }
  void ProtectAll(int protection) {
    for (const auto& [memory, block] : blocks_) {
      if (!block.shared) Protect(memory, block.size, protection);
    }
  }
  std::map<void*, Block> blocks_;
};

class DeferredStream : public Stream {
 public:
  explicit DeferredStream(GuardedMemory* memory) : memory_(*memory) {}
  void Enqueue(std::function<void()> work) { work_.push_back(std::move(work)); }
  Status Synchronize() override {
    memory_.Open();
    for (const auto& work : work_) work();
    work_.clear();
    memory_.Close();
    return OkStatus();
  }

 private:
  GuardedMemory& memory_;
  std::vector<std::function<void()>> work_;
};

inline void Enqueue(Stream& stream, std::function<void()> work) {
  static_cast<DeferredStream&>(stream).Enqueue(std::move(work));
}

class DeferredConvolution : public ConvolutionOp {
 public:
  explicit DeferredConvolution(std::unique_ptr<ConvolutionOp> op) : op_(std::move(op)) {}
  int64_t WorkspaceBytes() const override { return op_->WorkspaceBytes(); }
  Status Forward(Stream& stream, const void* x, const void* weights, const void* bias, void* y,
                 void* workspace) override {
    Enqueue(stream, [=, &stream] {
      SHARDMILL_CHECK(op_->Forward(stream, x, weights, bias, y, workspace).ok());
    });
    return OkStatus();
  }
  Status BackwardData(Stream& stream, const void* dy, const void* weights, void* dx,
                      void* workspace) override {
    Enqueue(stream, [=, &stream] {
      SHARDMILL_CHECK(op_->BackwardData(stream, dy, weights, dx, workspace).ok());
    });
    return OkStatus();
  }
  Status BackwardWeights(Stream& stream, const void* x, const void* dy, void* dweights, void* dbias,
                         void* workspace) override {
    Enqueue(stream, [=, &stream] {
      SHARDMILL_CHECK(op_->BackwardWeights(stream, x, dy, dweights, dbias, workspace).ok());
    });
    return OkStatus();
  }

 private:
  std::unique_ptr<ConvolutionOp> op_;
};

class DeferredBackend : public OpTable {
 public:
  DeferredBackend() : reference_(CreateReferenceOps(ElementType::kF32)) {}

  std::string_view name() const override { return "deferred"; }
  ElementType element_type() const override { return ElementType::kF32; }
  bool host_memory() const override { return false; }
  Result<void*> Allocate(int64_t bytes) override { return memory_.Allocate(bytes, false); }
  Result<void*> AllocateShared(int64_t bytes) override { return memory_.Allocate(bytes, true); }
  void Free(void* memory) override { memory_.Free(memory); }
  Result<std::unique_ptr<Stream>> CreateStream() override {
    return std::unique_ptr<Stream>(new DeferredStream(&memory_));
  }
  // The host's bytes are taken now, as from pageable memory.
  Status CopyFromHost(Stream& stream, const void* host, int64_t bytes, void* memory) override {
    const auto* first = static_cast<const char*>(host);
    Enqueue(stream, [copy = std::vector<char>(first, first + bytes), memory] {
      std::memcpy(memory, copy.data(), copy.size());
    });
    return OkStatus();
  }
  Status CopyToHost(Stream& stream, const void* memory, int64_t bytes, void* host) override {
    Enqueue(stream, [=] { std::memcpy(host, memory, static_cast<size_t>(bytes)); });
    return OkStatus();
  }
  Status SetZero(Stream& stream, int64_t bytes, void* memory) override {
    Enqueue(stream, [=] { std::memset(memory, 0, static_cast<size_t>(bytes)); });
    return OkStatus();
  }
  Result<std::unique_ptr<ConvolutionOp>> PrepareConvolution(
      const ConvolutionShape& shape) override {
    ASSIGN_OR_RETURN(std::unique_ptr<ConvolutionOp> op, reference_->PrepareConvolution(shape));
    return std::unique_ptr<ConvolutionOp>(new DeferredConvolution(std::move(op)));
  }
  template <typename Functor>
  Status Launch(Stream& stream, int64_t count, const Functor& functor) {
    Enqueue(stream, [=] {
      for (int64_t i = 0; i < count; ++i) functor(i);
    });
    return OkStatus();
  }

 private:
  GuardedMemory memory_;
  std::unique_ptr<OpTable> reference_;
};

// OpTable::kF32 as a GPU would hold it.
inline std::unique_ptr<OpTable> CreateDeferredOps() {
  return std::make_unique<KernelOps<DeferredBackend>>();
}

}  // namespace shardmill
