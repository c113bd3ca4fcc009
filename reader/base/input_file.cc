#include "reader/base/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/fenced_copy.h"

namespace shardmill {
namespace {

constexpr uint64_t kPageBytes = 4096;
// Read at once with pread: large enough for few system calls, small enough to stay in a cache.
constexpr uint64_t kPieceBytes = 256 << 10;

struct SumRequest {
  const uint8_t* begin;
  uint64_t bytes;
  uint64_t field_offset;
  uint64_t result;
};

void Sum(void* context) {
  SumRequest& request = *static_cast<SumRequest*>(context);
  request.result = Checksum64(request.begin, request.bytes);
}

void SumWithZeroedField(void* context) {
  SumRequest& request = *static_cast<SumRequest*>(context);
  request.result = Checksum64WithZeroedField(request.begin, request.bytes, request.field_offset);
}

struct SumEachRequest {
  const uint8_t* begin;
  const uint64_t* bounds;
  uint64_t* sums;
  size_t pieces;
};

void SumEach(void* context) {
  const SumEachRequest& request = *static_cast<const SumEachRequest*>(context);
  shardmill::Checksum64Each(request.begin, request.bounds, request.pieces, request.sums);
}

bool AnySet(const uint8_t* begin, uint64_t bytes) {
  uint8_t any = 0;
  for (uint64_t i = 0; i < bytes; ++i) any |= begin[i];
  return any != 0;
}

void OrTogether(void* context) {
  SumRequest& request = *static_cast<SumRequest*>(context);
  request.result = AnySet(request.begin, request.bytes) ? 1 : 0;
}

// Memory for one piece, kept from call to call.
uint8_t* PieceBuffer() {
  thread_local std::vector<uint8_t> buffer(kPieceBytes);
  return buffer.data();
}

int64_t ModifiedNs(const struct stat& info) {
  return int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec;
}

// A data set may have more shards than a process may have open files by default.
bool RaiseOpenFileLimit() {
  struct rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

Result<int> OpenForReading(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes must not wait for ever.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  int descriptor = ::open(path.c_str(), kFlags);
  if (descriptor < 0 && errno == EMFILE && RaiseOpenFileLimit()) {
    descriptor = ::open(path.c_str(), kFlags);
  }
  if (descriptor >= 0) return descriptor;
  const int error = errno;
  const Status status = ErrnoError("cannot open " + path, error);
  if (error == ENOENT) return NotFoundError(status.message());
  if (error == EMFILE) return IoError(status.message() + "; raise the limit with `ulimit -n`");
  return status;
}

// No room in the address space (a file of terabytes, a limit of `ulimit -v`), or a file system that
// maps nothing: the file can be read all the same.
bool PreadHelps(int map_error) { return map_error == ENOMEM || map_error == ENODEV; }

}  // namespace

InputFile::InputFile(std::string path, const struct stat& info)
    : path_(std::move(path)),
      size_(static_cast<uint64_t>(info.st_size)),
      device_(info.st_dev),
      inode_(info.st_ino),
      modified_ns_(ModifiedNs(info)) {}

InputFile::~InputFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::unique_ptr<InputFile>> InputFile::Open(const std::string& path, FileAccess access) {
  ASSIGN_OR_RETURN(const int descriptor, OpenForReading(path));
  struct stat info;
  Status status;
  void* data = nullptr;
  if (::fstat(descriptor, &info) != 0) {
    status = ErrnoError("cannot stat " + path, errno);
  } else if (!S_ISREG(info.st_mode)) {
    status = InvalidArgumentError(path + " is not a regular file");
  } else if (info.st_size > 0 && access == FileAccess::kMapped) {
    data = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) data = nullptr;
    if (data == nullptr && !PreadHelps(errno)) status = ErrnoError("cannot map " + path, errno);
  }
  // A mapping outlives the descriptor.
  const bool keep = status.ok() && data == nullptr;
  if (!keep) ::close(descriptor);
  RETURN_IF_ERROR(status);
  std::unique_ptr<InputFile> file(new InputFile(path, info));
  file->data_ = static_cast<uint8_t*>(data);
  if (keep) file->descriptor_ = descriptor;
  return file;
}

Status InputFile::CheckRange(uint64_t offset, uint64_t bytes) const {
  if (offset <= size_ && bytes <= size_ - offset) return OkStatus();
  return DataLossError(std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                       " are outside the file of " + std::to_string(size_) + " bytes");
}

Status InputFile::LostPage(uint64_t offset, uint64_t bytes) const {
  return IoError("cannot read " + std::to_string(bytes) + " bytes at offset " +
                 std::to_string(offset) +
                 ": the file was cut while it was in use, or its disk failed");
}

Status InputFile::Read(uint64_t offset, uint64_t bytes, void* out) const {
  RETURN_IF_ERROR(CheckRange(offset, bytes));
  if (descriptor_ < 0) {
    if (!FencedCopy(out, data_ + offset, bytes)) return LostPage(offset, bytes);
    return OkStatus();
  }
  uint8_t* to = static_cast<uint8_t*>(out);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return ErrnoError(
          "cannot read " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset),
          errno);
    }
    if (got == 0) return LostPage(offset, bytes);
    to += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
  return OkStatus();
}

// Hands out the range piece by piece; pieces are at most kPieceBytes long.
Status InputFile::ReadPieces(uint64_t offset, uint64_t bytes,
                             const std::function<void(const uint8_t*, uint64_t)>& take) const {
  uint8_t* const buffer = PieceBuffer();
  while (bytes > 0) {
    const uint64_t piece = std::min(bytes, kPieceBytes);
    RETURN_IF_ERROR(Read(offset, piece, buffer));
    take(buffer, piece);
    offset += piece;
    bytes -= piece;
  }
  return OkStatus();
}

Result<uint64_t> InputFile::Checksum64(uint64_t offset, uint64_t bytes) const {
  RETURN_IF_ERROR(CheckRange(offset, bytes));
  if (descriptor_ < 0) {
    SumRequest request = {data_ + offset, bytes, 0, 0};
    if (!RunFenced(request.begin, bytes, Sum, &request)) return LostPage(offset, bytes);
    return request.result;
  }
  if (bytes <= kPieceBytes) {
    RETURN_IF_ERROR(Read(offset, bytes, PieceBuffer()));
    return shardmill::Checksum64(PieceBuffer(), bytes);
  }
  Checksum64Stream stream;
  RETURN_IF_ERROR(ReadPieces(offset, bytes, [&](const uint8_t* piece, uint64_t piece_bytes) {
    stream.Update(piece, piece_bytes);
  }));
  return stream.Value();
}

Result<uint64_t> InputFile::Checksum64WithZeroedField(uint64_t offset, uint64_t bytes,
                                                      uint64_t field_offset) const {
  RETURN_IF_ERROR(CheckRange(offset, bytes));
  SHARDMILL_CHECK(bytes >= 8 && field_offset <= bytes - 8);
  if (descriptor_ < 0) {
    SumRequest request = {data_ + offset, bytes, field_offset, 0};
    if (!RunFenced(request.begin, bytes, SumWithZeroedField, &request)) {
      return LostPage(offset, bytes);
    }
    return request.result;
  }
  static constexpr uint8_t kZeros[8] = {};
  Checksum64Stream stream;
  const auto update = [&](const uint8_t* piece, uint64_t piece_bytes) {
    stream.Update(piece, piece_bytes);
  };
  RETURN_IF_ERROR(ReadPieces(offset, field_offset, update));
  stream.Update(kZeros, sizeof kZeros);
  const uint64_t behind = field_offset + sizeof kZeros;
  RETURN_IF_ERROR(ReadPieces(offset + behind, bytes - behind, update));
  return stream.Value();
}

Status InputFile::Checksum64Each(uint64_t offset, const uint64_t* bounds, size_t pieces,
                                 uint64_t* sums) const {
  RETURN_IF_ERROR(CheckRange(offset, bounds[pieces]));
  if (descriptor_ < 0) {
    SumEachRequest request = {data_ + offset, bounds, sums, pieces};
    const uint64_t bytes = bounds[pieces] - bounds[0];
    if (!RunFenced(request.begin + bounds[0], bytes, SumEach, &request)) {
      return LostPage(offset + bounds[0], bytes);
    }
    return OkStatus();
  }
  for (size_t first = 0; first < pieces;) {
    // As many whole pieces as fit into the buffer; a longer one is read in parts.
    size_t end = first;
    while (end < pieces && bounds[end + 1] - bounds[first] <= kPieceBytes) ++end;
    if (end == first) {
      ASSIGN_OR_RETURN(sums[first],
                       Checksum64(offset + bounds[first], bounds[first + 1] - bounds[first]));
      ++first;
      continue;
    }
    uint8_t* const buffer = PieceBuffer();
    RETURN_IF_ERROR(Read(offset + bounds[first], bounds[end] - bounds[first], buffer));
    for (const uint64_t start = bounds[first]; first < end; ++first) {
      sums[first] = shardmill::Checksum64(buffer + (bounds[first] - start),
                                          bounds[first + 1] - bounds[first]);
    }
  }
  return OkStatus();
}

Result<bool> InputFile::IsZero(uint64_t offset, uint64_t bytes) const {
  RETURN_IF_ERROR(CheckRange(offset, bytes));
  if (descriptor_ < 0) {
    SumRequest request = {data_ + offset, bytes, 0, 0};
    if (!RunFenced(request.begin, bytes, OrTogether, &request)) return LostPage(offset, bytes);
    return request.result == 0;
  }
  bool any = false;
  RETURN_IF_ERROR(ReadPieces(offset, bytes, [&](const uint8_t* piece, uint64_t piece_bytes) {
    any = any || AnySet(piece, piece_bytes);
  }));
  return !any;
}

uint64_t InputFile::SkipHole(uint64_t offset) const {
  const int descriptor =
      descriptor_ >= 0 ? descriptor_ : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return offset;
  const off_t data = ::lseek(descriptor, static_cast<off_t>(offset), SEEK_DATA);
  // ENXIO: nothing but holes up to the end of the file.
  const uint64_t found = data >= 0 ? static_cast<uint64_t>(data) : errno == ENXIO ? size_ : offset;
  if (descriptor_ < 0) ::close(descriptor);
  return std::max(offset, found);
}

void InputFile::Advise(uint64_t offset, uint64_t bytes, int advice) const {
  if (offset >= size_) return;
  const uint64_t end = offset + std::min(bytes, size_ - offset);
  const uint64_t begin = offset / kPageBytes * kPageBytes;
  if (data_ != nullptr) {
    ::madvise(data_ + begin, end - begin, advice);
  } else {
    ::posix_fadvise(descriptor_, static_cast<off_t>(begin), static_cast<off_t>(end - begin),
                    POSIX_FADV_WILLNEED);
  }
}

void InputFile::WillNeed(uint64_t offset, uint64_t bytes) const {
  Advise(offset, bytes, MADV_WILLNEED);
}

void InputFile::Populate(uint64_t offset, uint64_t bytes) const {
#ifdef MADV_POPULATE_READ  // Linux 5.14
  Advise(offset, bytes, MADV_POPULATE_READ);
#else
  Advise(offset, bytes, MADV_WILLNEED);
#endif
}

Result<int64_t> InputFile::CheckUnchanged() const {
  struct stat info;
  if (::stat(path_.c_str(), &info) != 0) return ErrnoError("cannot stat " + path_, errno);
  if (info.st_ino != inode_ || info.st_dev != device_) {
    return IoError(path_ + " was replaced by another file while it was in use");
  }
  if (static_cast<uint64_t>(info.st_size) != size_) {
    return IoError(path_ + " changed its size from " + std::to_string(size_) + " to " +
                   std::to_string(info.st_size) + " bytes while it was in use");
  }
  return ModifiedNs(info);
}

}  // namespace shardmill
