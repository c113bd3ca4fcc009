// A name in a folder that one process holds alone, or several processes share.
//
// The lock is a file in the folder that is held with flock(), so it ends with the process however
// that ends, also across the hosts of a network file system that supports flock(). Each holder
// writes a line into the file, so that who is refused can say by whom. The last holder that gives
// the lock back removes the file. Not for concurrent use.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "reader/base/status.h"

namespace shardmill {

enum class LockKind { kAlone, kShared };

// The lock of a folder as a whole.
inline constexpr char kFolderLockName[] = ".shardmill-lock";

class FolderLock {
 public:
  // The lock of an existing folder, or nothing when it cannot be had beside its present holders;
  // never waits. `purpose` is told to those who are refused.
  static Result<std::optional<FolderLock>> TryAcquire(const std::string& folder,
                                                      LockKind kind = LockKind::kAlone,
                                                      const std::string& name = kFolderLockName,
                                                      const std::string& purpose = "");
  ~FolderLock() { Release(); }
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

  // Lets others share a lock that is held alone, or the reverse. False: others still share it, and
  // this holder goes on doing so. Unavailable when somebody else got in between: it is lost then.
  Status MakeShared();
  Result<bool> TryMakeAlone();

  // Gives the lock back early, for example before the folder is removed.
  void Release();
  // Gives it back but leaves the file with the line of a holder, as a holder that was killed does;
  // empty: with the line of this one.
  void Abandon(const std::string& holder);

  // The line of who held a lock alone before this holder and ended without giving it back, as a
  // process that is killed does; empty: nobody. Read under the lock, so of several who take it one
  // after the other each sees what its predecessor left.
  const std::string& abandoned_by() const { return abandoned_by_; }
  // The living holders of a lock, as they named themselves: "process 4242 on node7, a purpose".
  // Empty when that is not known.
  static std::string Holders(const std::string& folder, const std::string& name = kFolderLockName);

 private:
  FolderLock(std::string path, int file, LockKind kind, std::string abandoned_by)
      : path_(std::move(path)), file_(file), kind_(kind), abandoned_by_(std::move(abandoned_by)) {}

  std::string path_;
  int file_;  // -1: given back
  LockKind kind_;
  std::string abandoned_by_;
};

}  // namespace shardmill
