// A file of known size, read at any place: mapped, or with pread.
//
// Mapped (the default), the reading methods touch each byte once, inside a SIGBUS fence (see
// fenced_copy.h): a file that shrinks under the mapping gives an Io error. With pread nothing is
// mapped and no fence is needed, at the price of a system call and a copy for each read; it suits
// file systems on which mappings are slow or unreliable. What is read, and every error, is the
// same. A file that cannot be mapped, because the address space has no room for it or its file
// system maps nothing, is read with pread.
//
// A range outside the file is DataLoss, so that numbers read from disk may be passed in as they
// are; the caller adds the path, which it knows more about. data() is the unfenced view.
// All methods are const and may be called from several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "reader/base/status.h"

struct stat;

namespace shardmill {

enum class FileAccess { kMapped, kPread };

// Part of a file.
struct FileRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

class InputFile {
 public:
  // NotFound, Io, or InvalidArgument when `path` is no regular file. An empty file is fine.
  static Result<std::unique_ptr<InputFile>> Open(const std::string& path,
                                                 FileAccess access = FileAccess::kMapped);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  uint64_t inode() const { return inode_; }
  const uint8_t* data() const { return data_; }  // null when the file is empty or not mapped

  // DataLoss unless [offset, offset + bytes) lies in the file.
  Status CheckRange(uint64_t offset, uint64_t bytes) const;

  Status Read(uint64_t offset, uint64_t bytes, void* out) const;
  Result<uint64_t> Checksum64(uint64_t offset, uint64_t bytes) const;
  // With the eight bytes at offset + field_offset taken as zero.
  Result<uint64_t> Checksum64WithZeroedField(uint64_t offset, uint64_t bytes,
                                             uint64_t field_offset) const;
  // One checksum per piece: piece i is [bounds[i], bounds[i + 1]) from `offset` on, so that many
  // small pieces need one fence. Requires pieces + 1 bounds in ascending order.
  Status Checksum64Each(uint64_t offset, const uint64_t* bounds, size_t pieces,
                        uint64_t* sums) const;
  Result<bool> IsZero(uint64_t offset, uint64_t bytes) const;

  // The first place at or behind `offset` that is no hole of a sparse file, or `offset` where the
  // file system does not tell. Holes read as zeros, but looking through terabytes of them takes its
  // time.
  uint64_t SkipHole(uint64_t offset) const;

  // Hints, cut to the file; they never fail. WillNeed() starts reading from the disk and returns;
  // Populate() waits until the range is in memory and mapped, so that no page faults follow.
  void WillNeed(uint64_t offset, uint64_t bytes) const;
  void Populate(uint64_t offset, uint64_t bytes) const;

  // Io when the file under this path is no longer the opened one or has another size. Else its time
  // of modification in nanoseconds since 1970: another one says that it was written to in place, or
  // only that somebody touched it.
  Result<int64_t> CheckUnchanged() const;
  int64_t opened_modified_ns() const { return modified_ns_; }

 private:
  InputFile(std::string path, const struct stat& info);
  Status LostPage(uint64_t offset, uint64_t bytes) const;
  void Advise(uint64_t offset, uint64_t bytes, int advice) const;
  Status ReadPieces(uint64_t offset, uint64_t bytes,
                    const std::function<void(const uint8_t*, uint64_t)>& take) const;

  std::string path_;
  uint64_t size_ = 0;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  int64_t modified_ns_ = 0;
  uint8_t* data_ = nullptr;  // the mapping
  int descriptor_ = -1;      // open unless the file is mapped
};

}  // namespace shardmill
