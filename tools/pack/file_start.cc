#include "tools/pack/file_start.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace shardmill {

Result<std::string> ReadFileStart(const std::string& path, uint64_t bytes) {
  std::string start(bytes, '\0');
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    const Status status = ErrnoError("cannot open " + path, errno);
    return errno == ENOENT ? NotFoundError(status.message()) : status;
  }
  ssize_t found = 0;
  do {
    found = ::pread(file, start.data(), start.size(), 0);
  } while (found < 0 && errno == EINTR);
  const int reason = errno;
  ::close(file);
  if (found < 0) return ErrnoError("cannot read " + path, reason);
  start.resize(static_cast<size_t>(found));
  return start;
}

}  // namespace shardmill
