/* The C table between the programs and libshardmill_mpi.so.
 *
 * The plug-in is the only file that is linked to an MPI library, so that a program with one rank
 * needs none, and so that another MPI asks for a new plug-in and nothing else. It is a thin layer:
 * calls are non-blocking, deadlines and messages are the caller's. Functions return 0 or an MPI
 * error code, which `error_text` explains. One thread at a time, any thread. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raise it whenever the table changes. */
#define SHARDMILL_MPI_TABLE_VERSION 1
#define SHARDMILL_MPI_ENTRY "shardmill_get_mpi_table"

/* Requests are MPI_Request values in 64 bits; a finished one is never tested again. */
typedef uint64_t shardmill_mpi_request;

/* Traffic of the two channels never meets: data, and small control messages. */
enum { SHARDMILL_MPI_DATA = 0, SHARDMILL_MPI_CONTROL = 1 };

/* The values of shardmill::SumType. */
enum { SHARDMILL_MPI_F32 = 0, SHARDMILL_MPI_F64 = 1, SHARDMILL_MPI_I64 = 2, SHARDMILL_MPI_U64 = 3 };

struct shardmill_mpi_world {
  int rank;
  int size;
  int local_rank;
  int local_size;
  char library[256]; /* name and version of the MPI library */
};

struct shardmill_mpi_table {
  uint32_t version;

  int (*start)(struct shardmill_mpi_world* world);
  int (*finish)(void);
  /* Ends all ranks of the job; does not return. */
  void (*abort_job)(int exit_code);
  void (*error_text)(int code, char* text, int capacity);

  int (*barrier)(shardmill_mpi_request* request);
  int (*broadcast)(void* data, int bytes, int root, shardmill_mpi_request* request);
  int (*sum)(void* data, int count, int type, shardmill_mpi_request* request);
  int (*gather)(const void* message, int bytes, void* all, const int* sizes, const int* offsets,
                shardmill_mpi_request* request);

  int (*send)(int channel, const void* data, int bytes, int rank, int tag,
              shardmill_mpi_request* request);
  int (*receive)(int channel, void* data, int bytes, int rank, int tag,
                 shardmill_mpi_request* request);
  /* Takes one waiting control message, if there is any: *bytes is its size, or -1 for none.
   * A message longer than `capacity` is an error. */
  int (*take_control)(void* data, int capacity, int* source, int* bytes);

  int (*test)(shardmill_mpi_request* request, int* done);
};

const struct shardmill_mpi_table* shardmill_get_mpi_table(void);

#ifdef __cplusplus
}
#endif
