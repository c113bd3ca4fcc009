// A file mapped read-only, read through fences.
//
// The reading methods touch each byte once, inside a SIGBUS fence (see fenced_copy.h): a file
// that shrinks under the mapping gives an Io error. A range outside the file is DataLoss, so that
// numbers read from disk may be passed in as they are; for both, the caller adds the path, which
// it knows more about. data() is the unfenced view.
// All methods are const and may be called from several threads at once.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

// Part of a file.
struct FileRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

class MappedFile {
 public:
  // NotFound, Io, or InvalidArgument when `path` is no regular file. An empty file is fine.
  static Result<std::unique_ptr<MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  uint64_t inode() const { return inode_; }
  const uint8_t* data() const { return data_; }  // null when the file is empty

  // DataLoss unless [offset, offset + bytes) lies in the file.
  Status CheckRange(uint64_t offset, uint64_t bytes) const;

  Status Read(uint64_t offset, uint64_t bytes, void* out) const;
  Result<uint64_t> Checksum64(uint64_t offset, uint64_t bytes) const;
  // With the eight bytes at offset + field_offset taken as zero.
  Result<uint64_t> Checksum64WithZeroedField(uint64_t offset, uint64_t bytes,
                                             uint64_t field_offset) const;
  // One checksum per piece: piece i is [bounds[i], bounds[i + 1]) from `offset` on, so that many
  // small pieces need one fence. Requires bounds in ascending order.
  Result<std::vector<uint64_t>> Checksum64Each(uint64_t offset,
                                               const std::vector<uint64_t>& bounds) const;
  Result<bool> IsZero(uint64_t offset, uint64_t bytes) const;

  // Hints, cut to the file; they never fail. WillNeed() starts reading from the disk and returns;
  // Populate() waits until the range is in memory and mapped, so that no page faults follow.
  void WillNeed(uint64_t offset, uint64_t bytes) const;
  void Populate(uint64_t offset, uint64_t bytes) const;

  // Io when the file under this path is no longer the mapped one, has another size, or was written
  // since Open(), as far as its time of modification tells.
  Status CheckUnchanged() const;

 private:
  MappedFile(std::string path, const struct stat& info, uint8_t* data);
  Status LostPage(uint64_t offset, uint64_t bytes) const;
  void Advise(uint64_t offset, uint64_t bytes, int advice) const;

  std::string path_;
  uint64_t size_;
  uint64_t device_;
  uint64_t inode_;
  struct timespec modified_;
  uint8_t* data_;
};

}  // namespace shardmill
