// A folder that one process writes at a time.
//
// The lock is a file in the folder that is held with flock(), so it ends with the process however
// that ends, and is removed when the lock is given back. Not for concurrent use.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "reader/base/status.h"

namespace shardmill {

class FolderLock {
 public:
  // The lock of an existing folder, or nothing when another holder has it; never waits.
  static Result<std::optional<FolderLock>> TryAcquire(const std::string& folder);
  ~FolderLock() { Release(); }
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

  // Gives the lock back early, for example before the folder is removed.
  void Release();

 private:
  FolderLock(std::string path, int file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  int file_;  // -1: given back
};

}  // namespace shardmill
