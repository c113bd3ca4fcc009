#include "reader/base/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "reader/base/file.h"

namespace shardmill {
namespace {

constexpr char kLockName[] = ".shardmill-lock";

// The lock file is removed at the end while it is locked, so a lock counts only if its file still
// has its name.
bool StillHasItsName(int file, const std::string& path) {
  struct stat locked, named;
  return ::fstat(file, &locked) == 0 && ::stat(path.c_str(), &named) == 0 &&
         locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

}  // namespace

Result<std::optional<FolderLock>> FolderLock::TryAcquire(const std::string& folder) {
  const std::string path = JoinPath(folder, kLockName);
  while (true) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (file < 0) return ErrnoError("cannot write in folder " + folder, errno);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      ::close(file);
      if (reason != EWOULDBLOCK) return ErrnoError("cannot lock " + path, reason);
      return std::optional<FolderLock>();
    }
    if (StillHasItsName(file, path)) return std::optional<FolderLock>(FolderLock(path, file));
    ::close(file);
  }
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  if (this == &other) return *this;
  Release();
  path_ = std::move(other.path_);
  file_ = std::exchange(other.file_, -1);
  return *this;
}

void FolderLock::Release() {
  if (file_ < 0) return;
  ::unlink(path_.c_str());
  ::close(file_);
  file_ = -1;
}

}  // namespace shardmill
