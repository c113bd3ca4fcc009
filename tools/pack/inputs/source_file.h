// Reads the files of a set, one after the other, into memory that is kept.
//
// The memory only grows, and is never cleared: filling a string with zeros first takes longer than
// many a read. Not for concurrent use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/inputs/input_set.h"

namespace shardmill {

class SourceFileReader {
 public:
  // The content of a file below `root`; it stays until the next call. NotFound when there is none,
  // IoError when it is no longer as large as it was when the folder was listed.
  Result<std::string_view> Read(const std::string& root, const SourceFile& file);

 private:
  std::unique_ptr<char[]> bytes_;
  uint64_t capacity_ = 0;
};

// The error of a file that is not what it was when the folder was listed.
Status ChangedError(const SourceFile& file);
bool IsChangedError(const Status& status);

}  // namespace shardmill
