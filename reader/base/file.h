// Whole files in, atomic files out.
//
// Every error names the path and ends in the operating system's words. Interrupted calls are
// repeated, short writes are continued.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

// "folder/name", without doubling a slash.
std::string JoinPath(const std::string& folder, const std::string& name);

// The part after the last slash, and the part before it ("." when there is none).
std::string FileName(const std::string& path);
std::string FolderName(const std::string& path);

// The content of a regular file. NotFound when there is none; InvalidArgument when it is no
// regular file or holds more than `max_bytes`.
Result<std::string> ReadFile(const std::string& path, uint64_t max_bytes);

// Makes the names in a folder (a new file, a rename) survive a power cut.
Status SyncFolder(const std::string& folder);

// A file that appears under its name whole or not at all: it is written under a temporary name
// in the same folder, which is removed when the object is destroyed without Commit().
// The first error sticks: later calls return it. Not for concurrent use.
class AtomicFile {
 public:
  // Creates `path`.tmp-PID (with a number added when that name is taken).
  static Result<AtomicFile> Create(const std::string& path);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  Status Append(const void* data, uint64_t bytes);
  // Appends one piece after the other; large ones go to the file from where they are, without being
  // gathered first.
  Status AppendAll(const std::vector<std::string_view>& pieces);
  Status AppendZeros(uint64_t bytes);
  uint64_t size() const { return size_; }  // bytes appended so far

  // Flushes the file to the disk, gives it its name (replacing a file of that name) and flushes
  // the folder. After an error the name is as it was, except when only the last step failed.
  Status Commit();

 private:
  AtomicFile(std::string path, std::string temporary_path, int descriptor);
  Status WriteOut(std::vector<iovec> pieces);
  Status Fail(Status status);

  std::string path_;
  std::string temporary_path_;  // empty: nothing to remove
  int descriptor_ = -1;
  uint64_t size_ = 0;
  std::vector<uint8_t> buffer_;  // small pieces are gathered here
  Status first_error_;
};

}  // namespace shardmill
