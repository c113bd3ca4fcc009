#include "reader/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <utility>

namespace shardmill {
namespace {

// Writes begin at multiples of this: the kernel then keeps the file in large pieces of memory, and
// the first pass over a mapping of it costs fewer page faults.
constexpr uint64_t kBufferBytes = uint64_t{2} << 20;
// Linux writes at most 2 GiB in one call; a smaller piece keeps signals responsive.
constexpr size_t kLargestWrite = uint64_t{64} << 20;

// Closes a descriptor at the end of a scope, when what close() says does not matter.
class DescriptorCloser {
 public:
  explicit DescriptorCloser(int descriptor) : descriptor_(descriptor) {}
  ~DescriptorCloser() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
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

// In pieces that one call may write.
void AddPieces(std::string_view bytes, std::vector<iovec>* pieces) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kLargestWrite))) {
    const std::string_view piece = bytes.substr(0, kLargestWrite);
    pieces->push_back({const_cast<char*>(piece.data()), piece.size()});
  }
}

// How many of the pieces from `next` on one call is to write.
int PiecesPerWrite(const std::vector<iovec>& pieces, size_t next) {
  size_t count = 0, bytes = 0;
  for (; next + count < pieces.size() && count < IOV_MAX; ++count) {
    bytes += pieces[next + count].iov_len;
    if (count > 0 && bytes > kLargestWrite) break;
  }
  return static_cast<int>(count);
}

// Takes the bytes that were written off the pieces from `next` on; gives the first one that is
// left.
size_t TakeOff(size_t written, size_t next, std::vector<iovec>* pieces) {
  for (; next < pieces->size(); ++next) {
    iovec& piece = (*pieces)[next];
    const size_t done = std::min(written, piece.iov_len);
    piece.iov_base = static_cast<uint8_t*>(piece.iov_base) + done;
    piece.iov_len -= done;
    written -= done;
    if (piece.iov_len > 0) break;
  }
  return next;
}

// Who cleans up takes a temporary file without a lock for a remnant, and has removed it when the
// lock is not to be had, or comes too late. A file system without locks has no such cleaners.
bool IsTakenForARemnant(int descriptor) {
  struct stat info;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  return ::fstat(descriptor, &info) == 0 && info.st_nlink == 0;
}

std::string_view TextOf(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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
    if (descriptor >= 0) {
      if (!IsTakenForARemnant(descriptor)) return AtomicFile(path, temporary_path, descriptor);
      ::close(descriptor);
    } else if (errno != EEXIST) {
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

Status AtomicFile::WriteOut(std::vector<iovec> pieces) {
  for (size_t next = 0; next < pieces.size();) {
    const ssize_t written = ::writev(descriptor_, &pieces[next], PiecesPerWrite(pieces, next));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail(ErrnoError("cannot write " + temporary_path_, errno));
    next = TakeOff(static_cast<size_t>(written), next, &pieces);
  }
  return OkStatus();
}

Status AtomicFile::Append(const void* data, uint64_t bytes) {
  return AppendAll({std::string_view(static_cast<const char*>(data), bytes)});
}

// What is written ends at a multiple of kBufferBytes in the file, for the buffer begins at one.
Status AtomicFile::AppendAll(const std::vector<std::string_view>& pieces) {
  RETURN_IF_ERROR(first_error_);
  uint64_t bytes = 0;
  for (const std::string_view piece : pieces) bytes += piece.size();
  size_ += bytes;
  uint64_t to_write = (buffer_.size() + bytes) / kBufferBytes * kBufferBytes;
  std::vector<iovec> ready;
  if (to_write > 0) {
    AddPieces(TextOf(buffer_), &ready);
    to_write -= buffer_.size();
  }
  std::vector<std::string_view> rest;
  for (const std::string_view piece : pieces) {
    const uint64_t now = std::min<uint64_t>(piece.size(), to_write);
    AddPieces(piece.substr(0, now), &ready);
    if (now < piece.size()) rest.push_back(piece.substr(now));
    to_write -= now;
  }
  if (!ready.empty()) {
    RETURN_IF_ERROR(WriteOut(std::move(ready)));
    buffer_.clear();
  }
  for (const std::string_view piece : rest) {
    const auto* bytes_left = reinterpret_cast<const uint8_t*>(piece.data());
    buffer_.insert(buffer_.end(), bytes_left, bytes_left + piece.size());
  }
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
  std::vector<iovec> last;
  AddPieces(TextOf(buffer_), &last);
  RETURN_IF_ERROR(WriteOut(std::move(last)));
  buffer_.clear();
  if (RetryingFsync(descriptor_) != 0) {
    return Fail(ErrnoError("cannot flush " + temporary_path_ + " to the disk", errno));
  }
  // The lock stays until the file has its name.
  const DescriptorCloser lock(::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0));
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
