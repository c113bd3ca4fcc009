#include "trainer/cuda/dnn/descriptor.h"

#include <algorithm>
#include <utility>

namespace shardmill {
namespace {

// Of the bad parameters (2000 … 2999) and what is not supported (3000 … 3999) what lies in the call
// itself, and not in how this machine is set up.
bool IsRefusal(cudnnStatus_t code) {
  switch (code) {
    case CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER:
    case CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART:
    case CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING:
    case CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE:
      return false;
    default:
      return code >= CUDNN_STATUS_BAD_PARAM && code < CUDNN_STATUS_INTERNAL_ERROR;
  }
}

}  // namespace

Status DnnStatus(cudnnStatus_t code, const std::string& what) {
  if (code == CUDNN_STATUS_SUCCESS) return OkStatus();
  char words[1024] = "";
  cudnnGetLastErrorString(words, sizeof words);
  std::string message = "cuDNN cannot " + what + ": " + cudnnGetErrorString(code);
  if (words[0] != '\0') message += std::string(" (") + words + ")";
  std::replace(message.begin(), message.end(), '\n', ' ');
  return IsRefusal(code) ? InvalidArgumentError(message) : UnavailableError(message);
}

DnnDescriptor::DnnDescriptor(DnnDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, nullptr)) {}

DnnDescriptor& DnnDescriptor::operator=(DnnDescriptor&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  descriptor_ = std::exchange(other.descriptor_, nullptr);
  return *this;
}

void DnnDescriptor::Reset() {
  if (descriptor_ != nullptr) cudnnBackendDestroyDescriptor(descriptor_);
  descriptor_ = nullptr;
}

Result<DnnDescriptor> DnnDescriptor::Create(cudnnBackendDescriptorType_t type) {
  DnnDescriptor created;
  RETURN_IF_ERROR(DnnStatus(cudnnBackendCreateDescriptor(type, &created.descriptor_),
                            "create a descriptor of type " + std::to_string(type)));
  return created;
}

Result<std::vector<int64_t>> DnnDescriptor::Int64s(cudnnBackendAttributeName_t name,
                                                   int64_t most) const {
  std::vector<int64_t> values(most);
  int64_t count = 0;
  RETURN_IF_ERROR(DnnStatus(
      cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_INT64, most, &count, values.data()),
      "say attribute " + std::to_string(name)));
  values.resize(std::min(count, most));
  return values;
}

Result<std::string> DnnDescriptor::Text(cudnnBackendAttributeName_t name) const {
  int64_t count = 0;
  const std::string what = "say attribute " + std::to_string(name);
  RETURN_IF_ERROR(DnnStatus(
      cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_CHAR, 0, &count, nullptr), what));
  std::string text(count, '\0');
  RETURN_IF_ERROR(DnnStatus(
      cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_CHAR, count, &count, text.data()),
      what));
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  return text;
}

Result<std::vector<int>> DnnDescriptor::Values(cudnnBackendAttributeName_t name,
                                               cudnnBackendAttributeType_t type,
                                               int64_t most) const {
  std::vector<int> values(most);
  int64_t count = 0;
  RETURN_IF_ERROR(
      DnnStatus(cudnnBackendGetAttribute(descriptor_, name, type, most, &count, values.data()),
                "say attribute " + std::to_string(name)));
  values.resize(std::min(count, most));
  return values;
}

Status DnnDescriptor::Read(cudnnBackendAttributeName_t name, DnnDescriptor* descriptor) const {
  int64_t count = 0;
  cudnnBackendDescriptor_t value = descriptor->get();
  RETURN_IF_ERROR(DnnStatus(
      cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &value),
      "say attribute " + std::to_string(name)));
  return count == 1
             ? OkStatus()
             : InternalError("cuDNN gave no descriptor for attribute " + std::to_string(name));
}

DnnBuilder::DnnBuilder(cudnnBackendDescriptorType_t type, std::string what)
    : what_("describe " + std::move(what)) {
  auto created = DnnDescriptor::Create(type);
  if (created.ok()) {
    descriptor_ = std::move(*created);
  } else {
    first_error_ = created.status();
  }
}

DnnBuilder& DnnBuilder::Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                            int64_t count, const void* values) {
  if (!first_error_.ok()) return *this;
  first_error_ =
      DnnStatus(cudnnBackendSetAttribute(descriptor_.get(), name, type, count, values), what_);
  return *this;
}

DnnBuilder& DnnBuilder::Int64(cudnnBackendAttributeName_t name, int64_t value) {
  return Set(name, CUDNN_TYPE_INT64, 1, &value);
}

DnnBuilder& DnnBuilder::Int64s(cudnnBackendAttributeName_t name,
                               const std::vector<int64_t>& values) {
  return Set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
}

DnnBuilder& DnnBuilder::Bool(cudnnBackendAttributeName_t name, bool value) {
  return Set(name, CUDNN_TYPE_BOOLEAN, 1, &value);
}

DnnBuilder& DnnBuilder::Float(cudnnBackendAttributeName_t name, float value) {
  return Set(name, CUDNN_TYPE_FLOAT, 1, &value);
}

DnnBuilder& DnnBuilder::Double(cudnnBackendAttributeName_t name, double value) {
  return Set(name, CUDNN_TYPE_DOUBLE, 1, &value);
}

DnnBuilder& DnnBuilder::Text(cudnnBackendAttributeName_t name, const std::string& text) {
  return Set(name, CUDNN_TYPE_CHAR, static_cast<int64_t>(text.size()), text.data());
}

DnnBuilder& DnnBuilder::Descriptor(cudnnBackendAttributeName_t name, const DnnDescriptor& value) {
  return Descriptors(name, {&value});
}

DnnBuilder& DnnBuilder::Descriptors(cudnnBackendAttributeName_t name,
                                    const std::vector<const DnnDescriptor*>& values) {
  std::vector<cudnnBackendDescriptor_t> descriptors;
  for (const DnnDescriptor* value : values) descriptors.push_back(value->get());
  return Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(descriptors.size()),
             descriptors.data());
}

Result<DnnDescriptor> DnnBuilder::Finalize() {
  RETURN_IF_ERROR(first_error_);
  RETURN_IF_ERROR(DnnStatus(cudnnBackendFinalize(descriptor_.get()), what_));
  return std::move(descriptor_);
}

}  // namespace shardmill
