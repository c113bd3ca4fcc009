#include "trainer/ops/op_table.h"

#include <utility>

namespace shardmill {

Status OpTable::NormalizePaddedImages(Stream&, const Shape&, ImageType, const void*, const float*,
                                      const float*, int64_t, void*) {
  return InternalError("this op table pads no images");
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : ops_(std::exchange(other.ops_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  ops_ = std::exchange(other.ops_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

Result<DeviceBuffer> DeviceBuffer::Create(OpTable* ops, int64_t bytes) {
  DeviceBuffer buffer;
  ASSIGN_OR_RETURN(buffer.data_, ops->Allocate(bytes));
  buffer.ops_ = ops;
  buffer.bytes_ = bytes;
  return buffer;
}

Result<DeviceBuffer> DeviceBuffer::CreateShared(OpTable* ops, int64_t bytes) {
  DeviceBuffer buffer;
  ASSIGN_OR_RETURN(buffer.data_, ops->AllocateShared(bytes));
  buffer.ops_ = ops;
  buffer.bytes_ = bytes;
  return buffer;
}

void DeviceBuffer::Reset() {
  if (data_ != nullptr) ops_->Free(data_);
  data_ = nullptr;
  bytes_ = 0;
}

}  // namespace shardmill
