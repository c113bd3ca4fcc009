#include "reader/reread_from_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "reader/base/checksum.h"

namespace shardmill {
namespace {

// Of offsets, sizes and memory, for any disk there is.
constexpr uint64_t kDirectAlignment = 4096;
constexpr uint64_t kPieceBytes = uint64_t{1} << 20;

class DirectFile {
 public:
  explicit DirectFile(const InputFile& file)
      : descriptor_(::open(file.path().c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK)),
        buffer_(static_cast<uint8_t*>(std::aligned_alloc(kDirectAlignment, kPieceBytes)),
                std::free) {
    struct stat info;
    is_open_ = descriptor_ >= 0 && buffer_ != nullptr && ::fstat(descriptor_, &info) == 0 &&
               info.st_ino == file.inode() && static_cast<uint64_t>(info.st_size) == file.size();
  }
  ~DirectFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;

  bool is_open() const { return is_open_; }
  const uint8_t* buffer() const { return buffer_.get(); }

  // How many of the bytes from `offset` on, which must be aligned, are in the buffer now.
  uint64_t Read(uint64_t offset) const {
    ssize_t got = 0;
    do {
      got = ::pread(descriptor_, buffer_.get(), kPieceBytes, static_cast<off_t>(offset));
    } while (got < 0 && errno == EINTR);
    return got < 0 ? 0 : static_cast<uint64_t>(got);
  }

 private:
  const int descriptor_;
  const std::unique_ptr<uint8_t, void (*)(void*)> buffer_;
  bool is_open_ = false;
};

}  // namespace

std::optional<uint64_t> ChecksumOnDisk(const InputFile& file, const FileRange& range) {
  const DirectFile direct(file);
  if (!direct.is_open()) return std::nullopt;
  Checksum64Stream sum;
  const uint64_t end = range.offset + range.bytes;
  for (uint64_t at = range.offset; at < end;) {
    const uint64_t begin = at / kDirectAlignment * kDirectAlignment;
    const uint64_t got = direct.Read(begin);
    if (begin + got <= at) return std::nullopt;
    const uint64_t taken = std::min(begin + got, end) - at;
    sum.Update(direct.buffer() + (at - begin), taken);
    at += taken;
    // The next piece begins at a multiple of the alignment, unless the file ends here.
    if (at < end && at % kDirectAlignment != 0) return std::nullopt;
  }
  return sum.Value();
}

}  // namespace shardmill
