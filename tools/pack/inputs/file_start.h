// Parts of a file, for headers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "reader/base/status.h"

namespace shardmill {

// An open file. Safe for concurrent use.
class FileParts {
 public:
  // NotFound or Io when it cannot be read.
  static Result<FileParts> Open(const std::string& path);
  FileParts(FileParts&& other) noexcept;
  FileParts& operator=(FileParts&&) = delete;
  ~FileParts();

  // At most `bytes` bytes from the offset on; fewer when the file ends before.
  Result<std::string> Read(uint64_t offset, uint64_t bytes) const;

 private:
  FileParts(std::string path, int file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  int file_;
};

// The first part of a file, likewise.
Result<std::string> ReadFileStart(const std::string& path, uint64_t bytes);

}  // namespace shardmill
