#include <nccl.h>

#include <cstring>

#include "trainer/cuda/comm/nccl_table.h"

namespace shardmill {
namespace {

static_assert(ncclSuccess == kNcclSuccess && ncclInProgress == kNcclInProgress);
static_assert(NCCL_UNIQUE_ID_BYTES == kNcclIdBytes);

ncclComm_t Comm(NcclHandle comm) { return static_cast<ncclComm_t>(comm); }

ncclDataType_t DataType(SumType type) {
  switch (type) {
    case SumType::kF32:
      return ncclFloat32;
    case SumType::kF64:
      return ncclFloat64;
    case SumType::kI64:
      return ncclInt64;
    default:
      return ncclUint64;
  }
}

int MakeId(char* id) {
  ncclUniqueId unique;
  const ncclResult_t result = ncclGetUniqueId(&unique);
  std::memcpy(id, unique.internal, kNcclIdBytes);
  return result;
}

int Start(int ranks, const char* id, int rank, NcclHandle* comm) {
  ncclUniqueId unique;
  std::memcpy(unique.internal, id, kNcclIdBytes);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t created = nullptr;
  const ncclResult_t result = ncclCommInitRankConfig(&created, ranks, unique, rank, &config);
  *comm = created;
  return result;
}

int Sum(NcclHandle comm, void* data, int64_t count, SumType type, StreamHandle stream) {
  return ncclAllReduce(data, data, static_cast<size_t>(count), DataType(type), ncclSum, Comm(comm),
                       static_cast<cudaStream_t>(stream));
}

int State(NcclHandle comm, int* state) {
  ncclResult_t now = ncclSuccess;
  const ncclResult_t result = ncclCommGetAsyncError(Comm(comm), &now);
  *state = now;
  return result;
}

int Finalize(NcclHandle comm) { return ncclCommFinalize(Comm(comm)); }
int Destroy(NcclHandle comm) { return ncclCommDestroy(Comm(comm)); }
int Abort(NcclHandle comm) { return ncclCommAbort(Comm(comm)); }
const char* ErrorText(int result) { return ncclGetErrorString(static_cast<ncclResult_t>(result)); }
const char* LastWords(NcclHandle comm) { return ncclGetLastError(Comm(comm)); }

constexpr NcclTable kTable = {MakeId,  Start, Sum,       Finalize, State,
                              Destroy, Abort, ErrorText, LastWords};

}  // namespace

const NcclTable& LinkedNccl() { return kTable; }

std::string NcclLibraryName() {
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return "NCCL";
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

}  // namespace shardmill
