#include "tools/salvage/pending_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "reader/base/file.h"
#include "reader/base/file_remnants.h"
#include "reader/manifest.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

constexpr char kTemporarySuffix[] = ".tmp-";
constexpr char kPurpose[] = "a salvage";
constexpr int kAttempts = 100;

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

// Folders that are called like pending ones for `path`.
std::vector<std::string> FoldersLikePending(const std::string& path) {
  std::vector<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator entry(FolderName(path), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (NameWithoutTemporarySuffix(name) != FileName(path)) continue;
    const std::string folder = path + name.substr(FileName(path).size());
    if (IsFolder(folder)) folders.push_back(folder);
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// Removes one that a process that has ended left behind.
Status RemoveRemnant(const std::string& path, const std::string& remnant,
                     std::vector<std::string>* remarks) {
  // Stopped, or at work, between making the folder and the mark.
  if (::rmdir(remnant.c_str()) == 0) return OkStatus();
  if (!CheckIsRegularFile(JoinPath(remnant, kSalvageMarkName)).ok()) {
    if (!IsFolder(remnant)) return OkStatus();
    remarks->push_back(remnant + " is left as it is: it is called like something that a salvage " +
                       "left, but has no mark of one; remove it when nobody needs it");
    return OkStatus();
  }
  auto lock = FolderLock::TryAcquire(remnant, LockKind::kAlone, kSalvageMarkName, kPurpose);
  if (!lock.ok()) return IsFolder(remnant) ? lock.status() : OkStatus();
  if (!lock->has_value()) {
    const std::string holder = FolderLock::Holders(remnant, kSalvageMarkName);
    return InvalidArgumentError("another salvage is writing " + path +
                                (holder.empty() ? "" : " (" + holder + ")") +
                                "; wait for it or choose another folder");
  }
  const std::string by = (*lock)->abandoned_by();
  std::error_code error;
  fs::remove_all(remnant, error);
  if (error) (*lock)->Abandon(by);
  remarks->push_back(
      remnant + (error ? " cannot be removed (" + error.message() + ")" : " was removed") +
      ": a salvage that was stopped had left it" + (by.empty() ? "" : " (" + by + ")"));
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<PendingFolder>> PendingFolder::Create(const std::string& path,
                                                             const std::string& source,
                                                             std::vector<std::string>* remarks) {
  for (const std::string& remnant : FoldersLikePending(path)) {
    std::error_code error;
    if (fs::equivalent(remnant, source, error)) continue;
    RETURN_IF_ERROR(RemoveRemnant(path, remnant, remarks));
  }
  const std::string base = path + kTemporarySuffix + std::to_string(::getpid());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string pending = attempt == 0 ? base : base + "-" + std::to_string(attempt);
    if (::mkdir(pending.c_str(), 0777) != 0) {
      if (errno != EEXIST) return ErrnoError("cannot create " + pending, errno);
      continue;
    }
    auto lock = FolderLock::TryAcquire(pending, LockKind::kAlone, kSalvageMarkName, kPurpose);
    if (lock.ok() && lock->has_value()) {
      return std::unique_ptr<PendingFolder>(new PendingFolder(path, pending, std::move(**lock)));
    }
    // Somebody who cleans up at this moment took it for a remnant.
    if (!lock.ok() && IsFolder(pending)) return lock.status();
  }
  return IoError("cannot create " + base + ": all names like it are taken");
}

PendingFolder::~PendingFolder() {
  std::error_code ignored;
  if (!pending_.empty()) fs::remove_all(pending_, ignored);
}

Status PendingFolder::Commit() {
  int result = ::renameat2(AT_FDCWD, pending_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE);
  // Some file systems do not know the flag; a folder that is not empty is then refused still.
  if (result != 0 && (errno == EINVAL || errno == ENOSYS)) {
    result = ::rename(pending_.c_str(), path_.c_str());
  }
  if (result != 0) return ErrnoError("cannot rename " + pending_ + " to " + path_, errno);
  pending_.clear();
  // Only now: without its mark a folder that is not complete could not be told from others.
  ::unlink(JoinPath(path_, kSalvageMarkName).c_str());
  lock_.Release();
  RETURN_IF_ERROR(SyncFolder(path_));
  return SyncFolder(FolderName(path_));
}

}  // namespace shardmill
