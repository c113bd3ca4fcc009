#include "trainer/logs/open_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace shardmill {

Result<int> OpenLog(const std::string& path, LogStart start) {
  const int how = start == LogStart::kEmpty ? O_TRUNC : O_APPEND;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | how, 0666);
  if (file < 0 && errno == ENXIO) {
    return InvalidArgumentError(path + " is no regular file but a pipe or socket that nothing " +
                                "reads: remove it or choose another folder");
  }
  if (file < 0) return ErrnoError(path + ": cannot open for writing", errno);
  // Writing may wait.
  const int flags = fcntl(file, F_GETFL);
  if (flags >= 0 && fcntl(file, F_SETFL, flags & ~O_NONBLOCK) == 0) return file;
  const Status error = ErrnoError(path + ": cannot set its mode", errno);
  close(file);
  return error;
}

}  // namespace shardmill
