#include "reader/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "reader/base/checksum.h"
#include "reader/base/fenced_copy.h"

namespace shardmill {
namespace {

constexpr uint64_t kPageBytes = 4096;

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
  uint64_t* results;
  size_t pieces;
};

void SumEach(void* context) {
  const SumEachRequest& request = *static_cast<const SumEachRequest*>(context);
  for (size_t i = 0; i < request.pieces; ++i) {
    request.results[i] =
        Checksum64(request.begin + request.bounds[i], request.bounds[i + 1] - request.bounds[i]);
  }
}

void OrTogether(void* context) {
  SumRequest& request = *static_cast<SumRequest*>(context);
  uint8_t any = 0;
  for (uint64_t i = 0; i < request.bytes; ++i) any |= request.begin[i];
  request.result = any;
}

}  // namespace

MappedFile::MappedFile(std::string path, const struct stat& info, uint8_t* data)
    : path_(std::move(path)),
      size_(static_cast<uint64_t>(info.st_size)),
      device_(info.st_dev),
      inode_(info.st_ino),
      modified_(info.st_mtim),
      data_(data) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Result<std::unique_ptr<MappedFile>> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes must not wait for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const Status status = ErrnoError("cannot open " + path, errno);
    return errno == ENOENT ? NotFoundError(status.message()) : status;
  }
  struct stat info;
  Status status;
  void* data = nullptr;
  if (::fstat(descriptor, &info) != 0) {
    status = ErrnoError("cannot stat " + path, errno);
  } else if (!S_ISREG(info.st_mode)) {
    status = InvalidArgumentError(path + " is not a regular file");
  } else if (info.st_size > 0) {
    data = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) status = ErrnoError("cannot map " + path, errno);
  }
  // The mapping outlives the descriptor; a data set may have more shards than a process may
  // have open files.
  ::close(descriptor);
  RETURN_IF_ERROR(status);
  return std::unique_ptr<MappedFile>(new MappedFile(path, info, static_cast<uint8_t*>(data)));
}

Status MappedFile::CheckRange(uint64_t offset, uint64_t bytes) const {
  if (offset <= size_ && bytes <= size_ - offset) return OkStatus();
  return DataLossError(std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                       " are outside the file of " + std::to_string(size_) + " bytes");
}

Status MappedFile::LostPage(uint64_t offset, uint64_t bytes) const {
  return IoError("cannot read " + std::to_string(bytes) + " bytes at offset " +
                 std::to_string(offset) +
                 ": the file was cut while it was in use, or its disk failed");
}

Status MappedFile::Read(uint64_t offset, uint64_t bytes, void* out) const {
  RETURN_IF_ERROR(CheckRange(offset, bytes));
  if (!FencedCopy(out, data_ + offset, bytes)) return LostPage(offset, bytes);
  return OkStatus();
}

Result<uint64_t> MappedFile::Checksum64(uint64_t offset, uint64_t bytes) const {
  RETURN_IF_ERROR(CheckRange(offset, bytes));
  SumRequest request = {data_ + offset, bytes, 0, 0};
  if (!RunFenced(request.begin, bytes, Sum, &request)) return LostPage(offset, bytes);
  return request.result;
}

Result<uint64_t> MappedFile::Checksum64WithZeroedField(uint64_t offset, uint64_t bytes,
                                                       uint64_t field_offset) const {
  RETURN_IF_ERROR(CheckRange(offset, bytes));
  SumRequest request = {data_ + offset, bytes, field_offset, 0};
  if (!RunFenced(request.begin, bytes, SumWithZeroedField, &request)) {
    return LostPage(offset, bytes);
  }
  return request.result;
}

Result<std::vector<uint64_t>> MappedFile::Checksum64Each(
    uint64_t offset, const std::vector<uint64_t>& bounds) const {
  SHARDMILL_CHECK(!bounds.empty());
  RETURN_IF_ERROR(CheckRange(offset, bounds.back()));
  std::vector<uint64_t> results(bounds.size() - 1);
  SumEachRequest request = {data_ + offset, bounds.data(), results.data(), results.size()};
  if (!RunFenced(request.begin, bounds.back(), SumEach, &request)) {
    return LostPage(offset, bounds.back());
  }
  return results;
}

Result<bool> MappedFile::IsZero(uint64_t offset, uint64_t bytes) const {
  RETURN_IF_ERROR(CheckRange(offset, bytes));
  SumRequest request = {data_ + offset, bytes, 0, 0};
  if (!RunFenced(request.begin, bytes, OrTogether, &request)) return LostPage(offset, bytes);
  return request.result == 0;
}

void MappedFile::Advise(uint64_t offset, uint64_t bytes, int advice) const {
  if (offset >= size_) return;
  const uint64_t end = offset + std::min(bytes, size_ - offset);
  const uint64_t begin = offset / kPageBytes * kPageBytes;
  ::madvise(data_ + begin, end - begin, advice);
}

void MappedFile::WillNeed(uint64_t offset, uint64_t bytes) const {
  Advise(offset, bytes, MADV_WILLNEED);
}

void MappedFile::Populate(uint64_t offset, uint64_t bytes) const {
#ifdef MADV_POPULATE_READ  // Linux 5.14
  Advise(offset, bytes, MADV_POPULATE_READ);
#else
  Advise(offset, bytes, MADV_WILLNEED);
#endif
}

Status MappedFile::CheckUnchanged() const {
  struct stat info;
  if (::stat(path_.c_str(), &info) != 0) return ErrnoError("cannot stat " + path_, errno);
  if (info.st_ino != inode_ || info.st_dev != device_) {
    return IoError(path_ + " was replaced by another file while it was in use");
  }
  if (static_cast<uint64_t>(info.st_size) != size_) {
    return IoError(path_ + " changed its size from " + std::to_string(size_) + " to " +
                   std::to_string(info.st_size) + " bytes while it was in use");
  }
  if (info.st_mtim.tv_sec != modified_.tv_sec || info.st_mtim.tv_nsec != modified_.tv_nsec) {
    return IoError(path_ + " was written to while it was in use");
  }
  return OkStatus();
}

}  // namespace shardmill
