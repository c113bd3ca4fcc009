// The calls of NCCL that the communicator makes, as a table, so that its logic is tested without
// GPUs. nccl_library.cc alone includes NCCL.
#pragma once

#include <cstdint>
#include <string>

#include "trainer/comm/communicator.h"
#include "trainer/cuda/runtime/runtime.h"

namespace shardmill {

constexpr int kNcclIdBytes = 128;
// Results of the calls are NCCL's own; these two are named here.
constexpr int kNcclSuccess = 0;
constexpr int kNcclInProgress = 7;

using NcclHandle = void*;

struct NcclTable {
  int (*make_id)(char* id);
  // All non-blocking: kNcclInProgress until `state` says another thing.
  int (*start)(int ranks, const char* id, int rank, NcclHandle* comm);
  int (*sum)(NcclHandle comm, void* data, int64_t count, SumType type, StreamHandle stream);
  int (*finalize)(NcclHandle comm);
  // What became of the calls so far.
  int (*state)(NcclHandle comm, int* state);
  int (*destroy)(NcclHandle comm);
  int (*abort)(NcclHandle comm);
  const char* (*error_text)(int result);
  // NCCL's last words about the communicator; "" for none.
  const char* (*last_words)(NcclHandle comm);
};

// Of the library that this plug-in is linked to.
const NcclTable& LinkedNccl();
std::string NcclLibraryName();  // "NCCL 2.28.9"

}  // namespace shardmill
