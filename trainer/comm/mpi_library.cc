#include "trainer/comm/mpi_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "reader/base/program_folder.h"

namespace shardmill {
namespace {

constexpr char kPluginVariable[] = "SHARDMILL_MPI_PLUGIN";
constexpr char kPluginFile[] = "libshardmill_mpi.so";

Result<std::string> PluginPath() {
  if (const char* path = std::getenv(kPluginVariable); path != nullptr && *path != '\0') {
    return std::string(path);
  }
  return PathBesideProgram(kPluginFile);
}

}  // namespace

Result<const shardmill_mpi_table*> OpenMpiLibrary() {
  ASSIGN_OR_RETURN(const std::string path, PluginPath());
  // Global, because the MPI library opens components of its own that look for its symbols.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    return UnavailableError(
        "several ranks were started, but the MPI plug-in cannot be opened: " +
        std::string(dlerror()) + ". Build //trainer:libshardmill_mpi.so (it needs an MPI library," +
        " in Debian libopenmpi-dev) and keep it beside the program, or name it in " +
        kPluginVariable);
  }
  using Entry = const shardmill_mpi_table* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, SHARDMILL_MPI_ENTRY));
  const shardmill_mpi_table* table = entry == nullptr ? nullptr : entry();
  if (table == nullptr || table->version != SHARDMILL_MPI_TABLE_VERSION) {
    return UnavailableError(path + " does not fit this program: it has table version " +
                            (table == nullptr ? "none" : std::to_string(table->version)) +
                            " instead of " + std::to_string(SHARDMILL_MPI_TABLE_VERSION) +
                            "; build both from the same source");
  }
  return table;
}

Status MpiStatus(const shardmill_mpi_table& table, int code, const char* what) {
  if (code == 0) return OkStatus();
  char text[512] = "";
  table.error_text(code, text, sizeof text);
  return UnavailableError(std::string("MPI cannot ") + what + ": " + text);
}

}  // namespace shardmill
