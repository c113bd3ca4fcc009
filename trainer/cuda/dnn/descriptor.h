// Descriptors of the cuDNN 9 backend: RAII, attributes, errors as Status.
//
// Move-only; an object is for one thread at a time. cuDNN refers to the descriptors that were set
// as attributes of others, so keep them as long as those.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

// OK for success; else "cuDNN cannot WHAT: the error, and the library's last message". Refusals
// because of an unsupported case are InvalidArgument; all else is Unavailable, also what the driver
// or a missing part of cuDNN does not support.
Status DnnStatus(cudnnStatus_t code, const std::string& what);

class DnnDescriptor {
 public:
  DnnDescriptor() = default;
  ~DnnDescriptor() { Reset(); }
  DnnDescriptor(DnnDescriptor&& other) noexcept;
  DnnDescriptor& operator=(DnnDescriptor&& other) noexcept;

  static Result<DnnDescriptor> Create(cudnnBackendDescriptorType_t type);
  cudnnBackendDescriptor_t get() const { return descriptor_; }

  // Reads an attribute. The list has as many elements as cuDNN gives, `most` at most.
  Result<std::vector<int64_t>> Int64s(cudnnBackendAttributeName_t name, int64_t most) const;
  Result<std::string> Text(cudnnBackendAttributeName_t name) const;
  // Enumerations, whose values all are of the size of an int.
  Result<std::vector<int>> Values(cudnnBackendAttributeName_t name,
                                  cudnnBackendAttributeType_t type, int64_t most) const;
  // Fills `descriptor`, which was created with the type that the attribute has.
  Status Read(cudnnBackendAttributeName_t name, DnnDescriptor* descriptor) const;

 private:
  void Reset();
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

// Sets attributes, then finalizes. The first error sticks and is what Finalize returns.
class DnnBuilder {
 public:
  // `what` completes "cuDNN cannot describe …".
  DnnBuilder(cudnnBackendDescriptorType_t type, std::string what);

  DnnBuilder& Int64(cudnnBackendAttributeName_t name, int64_t value);
  DnnBuilder& Int64s(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values);
  DnnBuilder& Bool(cudnnBackendAttributeName_t name, bool value);
  DnnBuilder& Float(cudnnBackendAttributeName_t name, float value);
  DnnBuilder& Double(cudnnBackendAttributeName_t name, double value);
  DnnBuilder& Text(cudnnBackendAttributeName_t name, const std::string& text);
  DnnBuilder& Descriptor(cudnnBackendAttributeName_t name, const DnnDescriptor& value);
  DnnBuilder& Descriptors(cudnnBackendAttributeName_t name,
                          const std::vector<const DnnDescriptor*>& values);
  // For enumerations and the like: `value` must be of the type that `type` says.
  template <typename T>
  DnnBuilder& Value(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, T value) {
    return Set(name, type, 1, &value);
  }
  DnnBuilder& Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                  const void* values);

  Result<DnnDescriptor> Finalize();

 private:
  DnnDescriptor descriptor_;
  std::string what_;
  Status first_error_;
};

}  // namespace shardmill
