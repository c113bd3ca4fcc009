// Opens libshardmill_mpi.so and hands out its table.
#pragma once

#include <string>

#include "reader/base/status.h"
#include "trainer/comm/mpi_plugin.h"

namespace shardmill {

// The plug-in is the file named by the environment variable SHARDMILL_MPI_PLUGIN or, when that is
// not set, libshardmill_mpi.so in the folder of the running executable. It stays open until the
// process ends. Unavailable names the file, the reason and the remedy.
Result<const shardmill_mpi_table*> OpenMpiLibrary();

// OK for 0, else Unavailable: "MPI_… : the library's words".
Status MpiStatus(const shardmill_mpi_table& table, int code, const char* what);

}  // namespace shardmill
