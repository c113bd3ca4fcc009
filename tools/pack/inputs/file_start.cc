#include "tools/pack/inputs/file_start.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace shardmill {

Result<FileParts> FileParts::Open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) return FileParts(path, file);
  const int reason = errno;
  const Status status = ErrnoError("cannot open " + path, reason);
  return reason == ENOENT ? NotFoundError(status.message()) : status;
}

FileParts::FileParts(FileParts&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

FileParts::~FileParts() {
  if (file_ >= 0) ::close(file_);
}

Result<std::string> FileParts::Read(uint64_t offset, uint64_t bytes) const {
  std::string part(bytes, '\0');
  ssize_t found = 0;
  do {
    found = ::pread(file_, part.data(), part.size(), static_cast<off_t>(offset));
  } while (found < 0 && errno == EINTR);
  if (found < 0) return ErrnoError("cannot read " + path_, errno);
  part.resize(static_cast<size_t>(found));
  return part;
}

Result<std::string> ReadFileStart(const std::string& path, uint64_t bytes) {
  ASSIGN_OR_RETURN(const FileParts file, FileParts::Open(path));
  return file.Read(0, bytes);
}

}  // namespace shardmill
