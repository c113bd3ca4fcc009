// libshardmill_mpi.so: the table of mpi_plugin.h over the MPI library it is linked to.
#include "trainer/comm/mpi_plugin.h"

// The C interface only: the old C++ one would need one more library.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>
#include <cstring>

namespace {

static_assert(sizeof(MPI_Request) <= sizeof(shardmill_mpi_request),
              "a request must fit in 64 bits");

// Duplicates of the world, so that errors return and the two kinds of traffic never meet.
MPI_Comm channels[2] = {MPI_COMM_NULL, MPI_COMM_NULL};

MPI_Request Load(const shardmill_mpi_request* request) {
  MPI_Request native;
  std::memcpy(&native, request, sizeof native);
  return native;
}

void Store(MPI_Request native, shardmill_mpi_request* request) {
  *request = 0;
  std::memcpy(request, &native, sizeof native);
}

#define RETURN_IF_MPI_ERROR(call)                                  \
  do {                                                             \
    if (const int code = (call); code != MPI_SUCCESS) return code; \
  } while (false)

int FillWorld(shardmill_mpi_world* world) {
  RETURN_IF_MPI_ERROR(MPI_Comm_rank(channels[0], &world->rank));
  RETURN_IF_MPI_ERROR(MPI_Comm_size(channels[0], &world->size));
  MPI_Comm host;
  RETURN_IF_MPI_ERROR(
      MPI_Comm_split_type(channels[0], MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  RETURN_IF_MPI_ERROR(MPI_Comm_rank(host, &world->local_rank));
  RETURN_IF_MPI_ERROR(MPI_Comm_size(host, &world->local_size));
  RETURN_IF_MPI_ERROR(MPI_Comm_free(&host));
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  RETURN_IF_MPI_ERROR(MPI_Get_library_version(version, &length));
  std::snprintf(world->library, sizeof world->library, "%s", version);
  world->library[std::strcspn(world->library, ",\n")] = '\0';
  return MPI_SUCCESS;
}

int Start(shardmill_mpi_world* world) {
  int provided = 0;
  RETURN_IF_MPI_ERROR(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided));
  if (provided < MPI_THREAD_SERIALIZED) return MPI_ERR_UNSUPPORTED_OPERATION;
  for (MPI_Comm& channel : channels) {
    RETURN_IF_MPI_ERROR(MPI_Comm_dup(MPI_COMM_WORLD, &channel));
    RETURN_IF_MPI_ERROR(MPI_Comm_set_errhandler(channel, MPI_ERRORS_RETURN));
  }
  return FillWorld(world);
}

int Finish() {
  for (MPI_Comm& channel : channels) RETURN_IF_MPI_ERROR(MPI_Comm_free(&channel));
  return MPI_Finalize();
}

void AbortJob(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

void ErrorText(int code, char* text, int capacity) {
  char message[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, message, &length) != MPI_SUCCESS) message[0] = '\0';
  std::snprintf(text, static_cast<size_t>(capacity), "%s", message);
}

MPI_Datatype DataType(int type) {
  switch (type) {
    case SHARDMILL_MPI_F32:
      return MPI_FLOAT;
    case SHARDMILL_MPI_F64:
      return MPI_DOUBLE;
    case SHARDMILL_MPI_I64:
      return MPI_INT64_T;
    case SHARDMILL_MPI_U64:
      return MPI_UINT64_T;
    default:
      return MPI_DATATYPE_NULL;
  }
}

int Barrier(shardmill_mpi_request* request) {
  MPI_Request native;
  RETURN_IF_MPI_ERROR(MPI_Ibarrier(channels[SHARDMILL_MPI_DATA], &native));
  Store(native, request);
  return MPI_SUCCESS;
}

int Broadcast(void* data, int bytes, int root, shardmill_mpi_request* request) {
  MPI_Request native;
  RETURN_IF_MPI_ERROR(
      MPI_Ibcast(data, bytes, MPI_BYTE, root, channels[SHARDMILL_MPI_DATA], &native));
  Store(native, request);
  return MPI_SUCCESS;
}

int Sum(void* data, int count, int type, shardmill_mpi_request* request) {
  MPI_Request native;
  RETURN_IF_MPI_ERROR(MPI_Iallreduce(MPI_IN_PLACE, data, count, DataType(type), MPI_SUM,
                                     channels[SHARDMILL_MPI_DATA], &native));
  Store(native, request);
  return MPI_SUCCESS;
}

int Gather(const void* message, int bytes, void* all, const int* sizes, const int* offsets,
           shardmill_mpi_request* request) {
  MPI_Request native;
  RETURN_IF_MPI_ERROR(MPI_Iallgatherv(message, bytes, MPI_BYTE, all, sizes, offsets, MPI_BYTE,
                                      channels[SHARDMILL_MPI_DATA], &native));
  Store(native, request);
  return MPI_SUCCESS;
}

int Send(int channel, const void* data, int bytes, int rank, int tag,
         shardmill_mpi_request* request) {
  MPI_Request native;
  RETURN_IF_MPI_ERROR(MPI_Isend(data, bytes, MPI_BYTE, rank, tag, channels[channel], &native));
  Store(native, request);
  return MPI_SUCCESS;
}

int Receive(int channel, void* data, int bytes, int rank, int tag, shardmill_mpi_request* request) {
  MPI_Request native;
  RETURN_IF_MPI_ERROR(MPI_Irecv(data, bytes, MPI_BYTE, rank, tag, channels[channel], &native));
  Store(native, request);
  return MPI_SUCCESS;
}

int TakeControl(void* data, int capacity, int* source, int* bytes) {
  *bytes = -1;
  int found = 0;
  MPI_Status status;
  const MPI_Comm channel = channels[SHARDMILL_MPI_CONTROL];
  RETURN_IF_MPI_ERROR(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, channel, &found, &status));
  if (!found) return MPI_SUCCESS;
  RETURN_IF_MPI_ERROR(
      MPI_Recv(data, capacity, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, channel, &status));
  *source = status.MPI_SOURCE;
  return MPI_Get_count(&status, MPI_BYTE, bytes);
}

int Test(shardmill_mpi_request* request, int* done) {
  MPI_Request native = Load(request);
  RETURN_IF_MPI_ERROR(MPI_Test(&native, done, MPI_STATUS_IGNORE));
  Store(native, request);
  return MPI_SUCCESS;
}

const shardmill_mpi_table kTable = {
    SHARDMILL_MPI_TABLE_VERSION,
    Start,
    Finish,
    AbortJob,
    ErrorText,
    Barrier,
    Broadcast,
    Sum,
    Gather,
    Send,
    Receive,
    TakeControl,
    Test,
};

}  // namespace

extern "C" const struct shardmill_mpi_table* shardmill_get_mpi_table(void) { return &kTable; }
