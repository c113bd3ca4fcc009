#include "trainer/ops/onednn/primitive.h"

#include <string>

namespace shardmill {
namespace {

Status StatusOf(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) return OkStatus();
  return InternalError(std::string("oneDNN could not ") + what + " (its status " +
                       std::to_string(static_cast<int>(status)) + ")");
}

}  // namespace

int Primitive::AddArgument(int argument, const dnnl::memory::desc& desc,
                           const dnnl::engine& engine) {
  SHARDMILL_CHECK(count_ < kMaxArguments);
  memories_[count_] = dnnl::memory(desc, engine, DNNL_MEMORY_NONE);
  arguments_[count_] = {argument, memories_[count_].get()};
  return count_++;
}

Status Primitive::SetAddress(int number, const void* address) {
  if (addresses_[number] == address) return OkStatus();
  addresses_[number] = address;
  // oneDNN takes inputs and outputs by the same type; it does not write to inputs.
  return StatusOf(dnnl_memory_set_data_handle(memories_[number].get(), const_cast<void*>(address)),
                  "take an address");
}

Status Primitive::Run(dnnl::stream& stream) {
  return StatusOf(dnnl_primitive_execute(primitive_.get(), stream.get(), count_, arguments_.data()),
                  "run a primitive");
}

}  // namespace shardmill
