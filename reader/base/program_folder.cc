#include "reader/base/program_folder.h"

#include <unistd.h>

#include <climits>

#include "reader/base/file.h"

namespace shardmill {

Result<std::string> PathBesideProgram(const std::string& file) {
  char executable[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable);
  if (length <= 0 || length == static_cast<ssize_t>(sizeof executable)) {
    return UnavailableError("cannot tell where this program lies, and with it " + file);
  }
  return JoinPath(FolderName(std::string(executable, static_cast<size_t>(length))), file);
}

}  // namespace shardmill
