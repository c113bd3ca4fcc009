#include "reader/base/folder_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "reader/base/file.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxHolderBytes = uint64_t{1} << 20;
constexpr size_t kHoldersNamed = 3;
constexpr std::string_view kProcess = "process ", kOn = " on ";

// The lock file is removed at the end while it is locked, so a lock counts only if its file still
// has its name.
bool StillHasItsName(int file, const std::string& path) {
  struct stat locked, named;
  return ::fstat(file, &locked) == 0 && ::stat(path.c_str(), &named) == 0 &&
         locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "an unknown host";
}

// Only a help for people, so a disk that is full does not matter. One write of an appending file
// is not torn apart by those of others.
void WriteHolder(int file, LockKind kind, const std::string& purpose) {
  if (kind == LockKind::kAlone && ::ftruncate(file, 0) != 0) return;
  const std::string line = std::string(kProcess) + std::to_string(::getpid()) + std::string(kOn) +
                           HostName() + (purpose.empty() ? "" : ", " + purpose) + "\n";
  (void)(::write(file, line.data(), line.size()) == 0);
}

std::string FirstLine(int file) {
  char text[4096];
  const ssize_t size = ::pread(file, text, sizeof text, 0);
  if (size <= 0) return "";
  const std::string_view line(text, static_cast<size_t>(size));
  return std::string(line.substr(0, line.find('\n')));
}

// False only for a process of this host that is certainly gone.
bool MayBeAlive(const std::string& holder) {
  const size_t on = holder.find(kOn);
  if (on == std::string::npos) return true;
  const size_t host = on + kOn.size();
  if (holder.substr(host, holder.find(", ", host) - host) != HostName()) return true;
  const long id = std::strtol(holder.c_str() + kProcess.size(), nullptr, 10);
  return id <= 0 || ::kill(static_cast<pid_t>(id), 0) == 0 || errno != ESRCH;
}

int LockOperation(LockKind kind) {
  return (kind == LockKind::kAlone ? LOCK_EX : LOCK_SH) | LOCK_NB;
}

int RetryingFlock(int file, int operation) {
  int result = 0;
  do {
    result = ::flock(file, operation);
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

Result<std::optional<FolderLock>> FolderLock::TryAcquire(const std::string& folder, LockKind kind,
                                                         const std::string& name,
                                                         const std::string& purpose) {
  const std::string path = JoinPath(folder, name);
  while (true) {
    const int file =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (file < 0) return ErrnoError("cannot write in folder " + folder, errno);
    if (RetryingFlock(file, LockOperation(kind)) != 0) {
      const int reason = errno;
      ::close(file);
      if (reason != EWOULDBLOCK) return ErrnoError("cannot lock " + path, reason);
      return std::optional<FolderLock>();
    }
    if (StillHasItsName(file, path)) {
      std::string before = kind == LockKind::kAlone ? FirstLine(file) : "";
      WriteHolder(file, kind, purpose);
      return std::optional<FolderLock>(FolderLock(path, file, kind, std::move(before)));
    }
    ::close(file);
  }
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      kind_(other.kind_),
      abandoned_by_(std::move(other.abandoned_by_)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  if (this == &other) return *this;
  Release();
  path_ = std::move(other.path_);
  file_ = std::exchange(other.file_, -1);
  kind_ = other.kind_;
  abandoned_by_ = std::move(other.abandoned_by_);
  return *this;
}

// flock() changes the kind of a lock by giving it back and taking it anew.
Status FolderLock::MakeShared() {
  kind_ = LockKind::kShared;
  if (RetryingFlock(file_, LockOperation(kind_)) == 0 && StillHasItsName(file_, path_)) {
    return OkStatus();
  }
  const Status status = ErrnoError("cannot share the lock " + path_, errno);
  ::close(std::exchange(file_, -1));
  return UnavailableError(status.message());
}

Result<bool> FolderLock::TryMakeAlone() {
  if (RetryingFlock(file_, LockOperation(LockKind::kAlone)) != 0) {
    RETURN_IF_ERROR(MakeShared());
    return false;
  }
  kind_ = LockKind::kAlone;
  if (StillHasItsName(file_, path_)) return true;
  ::close(std::exchange(file_, -1));
  return UnavailableError("the lock " + path_ + " was taken by another process");
}

void FolderLock::Release() {
  if (file_ < 0) return;
  // Those who share it still need the file. Of two who leave at once neither may get it alone; an
  // unlocked file that is left does no harm.
  if (kind_ == LockKind::kAlone || RetryingFlock(file_, LockOperation(LockKind::kAlone)) == 0) {
    if (StillHasItsName(file_, path_)) ::unlink(path_.c_str());
  }
  ::close(file_);
  file_ = -1;
}

void FolderLock::Abandon(const std::string& holder) {
  if (file_ < 0) return;
  const std::string line = holder + "\n";
  if (!holder.empty() && ::ftruncate(file_, 0) == 0) {
    (void)(::write(file_, line.data(), line.size()) == 0);
  }
  ::close(std::exchange(file_, -1));
}

std::string FolderLock::Holders(const std::string& folder, const std::string& name) {
  const Result<std::string> text = ReadFile(JoinPath(folder, name), kMaxHolderBytes);
  if (!text.ok()) return "";
  std::set<std::string> seen;
  std::string holders;
  for (size_t begin = 0, end; (end = text->find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string holder = text->substr(begin, end - begin);
    if (holder.rfind(kProcess, 0) != 0 || !MayBeAlive(holder)) continue;
    if (!seen.insert(holder).second || seen.size() > kHoldersNamed) continue;
    holders += (holders.empty() ? "" : ", ") + holder;
  }
  return seen.size() > kHoldersNamed ? holders + ", …" : holders;
}

}  // namespace shardmill
