#include "tools/pack/inputs/source_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "reader/base/file.h"

namespace shardmill {
namespace {

constexpr char kChanged[] = " bytes when the folder was listed, and was changed since";

// Reads up to `bytes` bytes; the result is how many there were.
Result<uint64_t> ReadAll(int descriptor, const std::string& path, char* to, uint64_t bytes) {
  uint64_t filled = 0;
  while (filled < bytes) {
    const ssize_t got = ::read(descriptor, to + filled, bytes - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError("cannot read " + path, errno);
    if (got == 0) break;
    filled += static_cast<uint64_t>(got);
  }
  return filled;
}

}  // namespace

Status ChangedError(const SourceFile& file) {
  return IoError(file.path + " had " + std::to_string(file.bytes) + kChanged +
                 "; pack when nobody writes to the source folder");
}

bool IsChangedError(const Status& status) {
  return status.code() == StatusCode::kIo && status.message().find(kChanged) != std::string::npos;
}

Result<std::string_view> SourceFileReader::Read(const std::string& root, const SourceFile& file) {
  const std::string path = JoinPath(root, file.path);
  const uint64_t room = file.bytes + 1;  // one more, to see that it has grown
  if (room > capacity_) {
    capacity_ = 0;
    bytes_.reset();  // first, so that old and new never add up
    bytes_.reset(new char[room]);
    capacity_ = room;
  }
  // O_NONBLOCK: opening a pipe that nobody writes must not wait for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const Status status = ErrnoError("cannot open " + path, errno);
    return errno == ENOENT ? NotFoundError(status.message()) : status;
  }
  Result<uint64_t> bytes = ReadAll(descriptor, path, bytes_.get(), room);
  ::close(descriptor);
  RETURN_IF_ERROR(bytes.status());
  if (*bytes != file.bytes) return ChangedError(file);
  return std::string_view(bytes_.get(), file.bytes);
}

}  // namespace shardmill
