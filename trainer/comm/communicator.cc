#include "trainer/comm/communicator.h"

namespace shardmill {
namespace {

Status StartAndWait(Communicator* communicator, void* data, int64_t count, SumType type,
                    std::string_view name) {
  ASSIGN_OR_RETURN(const StartedCall call, communicator->StartSum(data, count, type, name));
  return communicator->Wait(call);
}

}  // namespace

Status Communicator::Sum(float* data, int64_t count, std::string_view name) {
  return StartAndWait(this, data, count, SumType::kF32, name);
}
Status Communicator::Sum(double* data, int64_t count, std::string_view name) {
  return StartAndWait(this, data, count, SumType::kF64, name);
}
Status Communicator::Sum(int64_t* data, int64_t count, std::string_view name) {
  return StartAndWait(this, data, count, SumType::kI64, name);
}
Status Communicator::Sum(uint64_t* data, int64_t count, std::string_view name) {
  return StartAndWait(this, data, count, SumType::kU64, name);
}

}  // namespace shardmill
