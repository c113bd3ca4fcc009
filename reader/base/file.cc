#include "reader/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace shardmill {
namespace {

// Writes begin at multiples of this: the kernel then keeps the file in large pieces of memory, and
// the first pass over a mapping of it costs fewer page faults.
constexpr uint64_t kBufferBytes = uint64_t{2} << 20;
// Linux writes at most 2 GiB in one call; a smaller piece keeps signals responsive.
constexpr uint64_t kLargestWrite = uint64_t{64} << 20;

// Closes a descriptor at the end of a scope, when what close() says does not matter.
class DescriptorCloser {
 public:
  explicit DescriptorCloser(int descriptor) : descriptor_(descriptor) {}
  ~DescriptorCloser() { ::close(descriptor_); }
  DescriptorCloser(const DescriptorCloser&) = delete;
  DescriptorCloser& operator=(const DescriptorCloser&) = delete;

 private:
  int descriptor_;
};

Status OpenError(const std::string& path, int error_number) {
  const Status status = ErrnoError("cannot open " + path, error_number);
  return error_number == ENOENT ? NotFoundError(status.message()) : status;
}

int RetryingFsync(int descriptor) {
  int result = 0;
  do {
    result = ::fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

std::string JoinPath(const std::string& folder, const std::string& name) {
  if (folder.empty() || folder.back() == '/') return folder + name;
  return folder + "/" + name;
}

std::string FileName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string FolderName(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<std::string> ReadFile(const std::string& path, uint64_t max_bytes) {
  // O_NONBLOCK: opening a pipe that nobody writes must not wait for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return OpenError(path, errno);
  const DescriptorCloser closer(descriptor);
  struct stat info;
  if (::fstat(descriptor, &info) != 0) return ErrnoError("cannot stat " + path, errno);
  if (!S_ISREG(info.st_mode)) return InvalidArgumentError(path + " is not a regular file");
  if (static_cast<uint64_t>(info.st_size) > max_bytes) {
    return InvalidArgumentError(path + " holds " + std::to_string(info.st_size) +
                                " bytes; at most " + std::to_string(max_bytes) + " are expected");
  }
  std::string content(static_cast<size_t>(info.st_size), '\0');
  size_t filled = 0;
  while (filled < content.size()) {
    const ssize_t got = ::read(descriptor, &content[filled], content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError("cannot read " + path, errno);
    if (got == 0) break;  // the file shrank since fstat
    filled += static_cast<size_t>(got);
  }
  content.resize(filled);
  return content;
}

Status SyncFolder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return OpenError(folder, errno);
  const DescriptorCloser closer(descriptor);
  // Some network file systems cannot flush a folder and say EINVAL; there is nothing to do then.
  if (RetryingFsync(descriptor) != 0 && errno != EINVAL) {
    return ErrnoError("cannot flush folder " + folder, errno);
  }
  return OkStatus();
}

AtomicFile::AtomicFile(std::string path, std::string temporary_path, int descriptor)
    : path_(std::move(path)), temporary_path_(std::move(temporary_path)), descriptor_(descriptor) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_path_(std::exchange(other.temporary_path_, std::string())),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      buffer_(std::move(other.buffer_)),
      first_error_(std::move(other.first_error_)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  constexpr int kAttempts = 100;
  const std::string base = path + ".tmp-" + std::to_string(::getpid());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // A file of that name may be in use by another host or a remnant; it is not ours to remove.
    const std::string temporary_path = attempt == 0 ? base : base + "-" + std::to_string(attempt);
    const int descriptor =
        ::open(temporary_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor >= 0) return AtomicFile(path, temporary_path, descriptor);
    if (errno != EEXIST) {
      const Status status = ErrnoError("cannot create " + temporary_path, errno);
      return errno == ENOENT ? NotFoundError(status.message()) : status;
    }
  }
  return IoError("cannot create " + base + ": it and " + std::to_string(kAttempts - 1) +
                 " names like it exist; remove what an earlier run left behind");
}

Status AtomicFile::Fail(Status status) {
  if (first_error_.ok()) first_error_ = std::move(status);
  return first_error_;
}

Status AtomicFile::WriteOut(const uint8_t* data, uint64_t bytes) {
  while (bytes > 0) {
    const ssize_t written =
        ::write(descriptor_, data, static_cast<size_t>(std::min(bytes, kLargestWrite)));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail(ErrnoError("cannot write " + temporary_path_, errno));
    data += written;
    bytes -= static_cast<uint64_t>(written);
  }
  return OkStatus();
}

Status AtomicFile::FlushBuffer() {
  RETURN_IF_ERROR(WriteOut(buffer_.data(), buffer_.size()));
  buffer_.clear();
  return OkStatus();
}

Status AtomicFile::Append(const void* data, uint64_t bytes) {
  RETURN_IF_ERROR(first_error_);
  const uint8_t* begin = static_cast<const uint8_t*>(data);
  size_ += bytes;
  if (buffer_.size() + bytes >= kBufferBytes) {
    const uint64_t fill = kBufferBytes - buffer_.size();
    buffer_.insert(buffer_.end(), begin, begin + fill);
    RETURN_IF_ERROR(FlushBuffer());
    const uint64_t whole = (bytes - fill) / kBufferBytes * kBufferBytes;
    RETURN_IF_ERROR(WriteOut(begin + fill, whole));
    begin += fill + whole;
    bytes -= fill + whole;
  }
  buffer_.insert(buffer_.end(), begin, begin + bytes);
  return OkStatus();
}

Status AtomicFile::AppendZeros(uint64_t bytes) {
  static constexpr uint8_t kZeros[4096] = {};
  while (bytes > 0) {
    const uint64_t piece = std::min<uint64_t>(bytes, sizeof kZeros);
    RETURN_IF_ERROR(Append(kZeros, piece));
    bytes -= piece;
  }
  return OkStatus();
}

Status AtomicFile::Commit() {
  RETURN_IF_ERROR(first_error_);
  RETURN_IF_ERROR(FlushBuffer());
  if (RetryingFsync(descriptor_) != 0) {
    return Fail(ErrnoError("cannot flush " + temporary_path_ + " to the disk", errno));
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    return Fail(ErrnoError("cannot close " + temporary_path_, errno));
  }
  if (::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    return Fail(ErrnoError("cannot rename " + temporary_path_ + " to " + path_, errno));
  }
  temporary_path_.clear();
  // A second Commit or an Append would be a bug of the caller; it gets an error, not a crash.
  first_error_ = InternalError(path_ + " is already committed");
  return SyncFolder(FolderName(path_));
}

}  // namespace shardmill
