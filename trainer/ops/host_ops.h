// What the backends that compute in the memory of the host share: memory and a stream that runs
// each operation before the call returns.
#pragma once

#include <cstdint>
#include <memory>

#include "trainer/ops/op_table.h"

namespace shardmill {

class HostOps : public OpTable {
 public:
  bool host_memory() const override { return true; }
  Result<void*> Allocate(int64_t bytes) override;
  void Free(void* memory) override;
  Result<std::unique_ptr<Stream>> CreateStream() override;
  Status CopyFromHost(Stream& stream, const void* host, int64_t bytes, void* memory) override;
  Status CopyToHost(Stream& stream, const void* memory, int64_t bytes, void* host) override;
  Status SetZero(Stream& stream, int64_t bytes, void* memory) override;
  // In double.
  Status FoldBatchNorm(Stream& stream, const BatchNormFold& fold, void* weights,
                       void* bias) override;
};

}  // namespace shardmill
