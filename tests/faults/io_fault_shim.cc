// An LD_PRELOAD library that makes the operating system refuse I/O below one folder, so that
// fault tests drive the real binaries. Controlled by the environment:
//
//   SHARDMILL_FAULT_UNDER=DIR    only files below DIR are affected (required)
//   SHARDMILL_FAULT_AFTER=N      write calls succeed until N bytes have been written in all
//   SHARDMILL_FAULT_ERRNO=NAME   then they fail: ENOSPC (default), EIO, EDQUOT
//   SHARDMILL_FAULT_SHORT=N      every write transfers at most N bytes (a legal short write)
//   SHARDMILL_FAULT_EINTR=1      every second write fails once with EINTR (legal too)
//   SHARDMILL_FAULT_FSYNC=1      fsync and fdatasync fail with EIO
//   SHARDMILL_FAULT_RENAME=1     rename fails with EIO
//   SHARDMILL_FAULT_GONE=NAME    files whose paths end so do not exist, wherever they are
//   SHARDMILL_FAULT_FREEZE=N     the process stops itself (SIGSTOP) once it has written N bytes
//   SHARDMILL_FAULT_RANK=R       only in rank R of a job that mpirun started
//   SHARDMILL_FAULT_MARKER=FILE  made before the process stops itself; the other ranks write no
//                                shard before it is there, so that rank R gets one to stop in
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace {

std::atomic<int64_t> written{0};
std::atomic<uint64_t> write_calls{0};
std::atomic<bool> frozen{false};

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

int64_t Number(const char* name, int64_t otherwise) {
  const char* text = getenv(name);
  return text == nullptr ? otherwise : atoll(text);
}

bool RankIsAffected() {
  const char* wanted = getenv("SHARDMILL_FAULT_RANK");
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  return wanted == nullptr || (rank != nullptr && strcmp(rank, wanted) == 0);
}

bool LiesUnderFolder(const char* path) {
  const char* folder = getenv("SHARDMILL_FAULT_UNDER");
  return folder != nullptr && strncmp(path, folder, strlen(folder)) == 0;
}

bool PathIsAffected(const char* path) { return RankIsAffected() && LiesUnderFolder(path); }

// The rank that stops itself must have its turn, however fast the others are.
void WaitForMarker(const char* path) {
  const char* marker = getenv("SHARDMILL_FAULT_MARKER");
  if (marker == nullptr || RankIsAffected()) return;
  if (!LiesUnderFolder(path) || strstr(path, ".shard.tmp-") == nullptr) return;
  for (int i = 0; i < 60000 && access(marker, F_OK) != 0; ++i) usleep(1000);
}

bool FileIsAffected(int fd) {
  char link[64];
  char path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  WaitForMarker(path);
  return PathIsAffected(path);
}

void Freeze() {
  const char* marker = getenv("SHARDMILL_FAULT_MARKER");
  if (marker != nullptr) close(open(marker, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  raise(SIGSTOP);
}

int FaultErrno() {
  const char* name = getenv("SHARDMILL_FAULT_ERRNO");
  if (name != nullptr && strcmp(name, "EIO") == 0) return EIO;
  if (name != nullptr && strcmp(name, "EDQUOT") == 0) return EDQUOT;
  return ENOSPC;
}

// What a write of `bytes` to an affected file may transfer: -1 with errno set when it must fail.
ssize_t AllowedBytes(size_t bytes) {
  if (Number("SHARDMILL_FAULT_EINTR", 0) != 0 && write_calls.fetch_add(1) % 2 == 0) {
    errno = EINTR;
    return -1;
  }
  int64_t allowed = static_cast<int64_t>(bytes);
  const int64_t limit = Number("SHARDMILL_FAULT_AFTER", INT64_MAX);
  if (limit - written.load() <= 0) {
    errno = FaultErrno();
    return -1;
  }
  allowed = std::min(allowed, limit - written.load());
  allowed = std::min(allowed, Number("SHARDMILL_FAULT_SHORT", INT64_MAX));
  written += allowed;
  if (written > Number("SHARDMILL_FAULT_FREEZE", INT64_MAX) && !frozen.exchange(true)) {
    Freeze();
  }
  return allowed;
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t bytes) {
  static const auto next = Next<ssize_t (*)(int, const void*, size_t)>("write");
  if (bytes > 0 && FileIsAffected(fd)) {
    const ssize_t allowed = AllowedBytes(bytes);
    if (allowed < 0) return -1;
    bytes = static_cast<size_t>(allowed);
  }
  return next(fd, data, bytes);
}

ssize_t writev(int fd, const iovec* pieces, int count) {
  static const auto next = Next<ssize_t (*)(int, const iovec*, int)>("writev");
  size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += pieces[i].iov_len;
  if (bytes == 0 || !FileIsAffected(fd)) return next(fd, pieces, count);
  const ssize_t allowed = AllowedBytes(bytes);
  if (allowed < 0) return -1;
  std::vector<iovec> first;
  size_t left = static_cast<size_t>(allowed);
  for (int i = 0; i < count && left > 0; ++i) {
    first.push_back({pieces[i].iov_base, std::min(left, pieces[i].iov_len)});
    left -= first.back().iov_len;
  }
  return next(fd, first.data(), static_cast<int>(first.size()));
}

ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t offset) {
  static const auto next = Next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  if (bytes > 0 && FileIsAffected(fd)) {
    const ssize_t allowed = AllowedBytes(bytes);
    if (allowed < 0) return -1;
    bytes = static_cast<size_t>(allowed);
  }
  return next(fd, data, bytes, offset);
}

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  return pwrite64(fd, data, bytes, offset);
}

int open64(const char* path, int flags, ...) {
  static const auto next = Next<int (*)(const char*, int, ...)>("open64");
  const char* gone = getenv("SHARDMILL_FAULT_GONE");
  const size_t bytes = strlen(path);
  if (gone != nullptr && bytes >= strlen(gone) && strcmp(path + bytes - strlen(gone), gone) == 0) {
    errno = ENOENT;
    return -1;
  }
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return next(path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open64(path, flags, mode);
}

int fsync(int fd) {
  static const auto next = Next<int (*)(int)>("fsync");
  if (Number("SHARDMILL_FAULT_FSYNC", 0) != 0 && FileIsAffected(fd)) {
    errno = EIO;
    return -1;
  }
  return next(fd);
}

int fdatasync(int fd) { return fsync(fd); }

int rename(const char* from, const char* to) {
  static const auto next = Next<int (*)(const char*, const char*)>("rename");
  if (Number("SHARDMILL_FAULT_RENAME", 0) != 0 && PathIsAffected(to)) {
    errno = EIO;
    return -1;
  }
  return next(from, to);
}

}  // extern "C"
