// A folder that gets its name when it is complete, and goes away when that does not happen. Part of
// salvage.h.
//
// While it is filled it is called OUT.tmp-PID and holds a locked mark, so that what a process that
// was killed left behind can be told from what another one is at work on. Not for concurrent use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reader/base/folder_lock.h"
#include "reader/base/status.h"

namespace shardmill {

// The mark, in the folder.
inline constexpr char kSalvageMarkName[] = ".shardmill-salvage";

class PendingFolder {
 public:
  // For a folder `path` that is to be. First removes what processes that have ended left of folders
  // for the same path; `source` is not among them. `remarks` say what was removed, and what looks
  // like a remnant but has no mark. InvalidArgument when another process is at work on the path.
  static Result<std::unique_ptr<PendingFolder>> Create(const std::string& path,
                                                       const std::string& source,
                                                       std::vector<std::string>* remarks);
  ~PendingFolder();
  PendingFolder(const PendingFolder&) = delete;
  PendingFolder& operator=(const PendingFolder&) = delete;

  // The folder as it is called now.
  const std::string& path() const { return pending_; }

  // Gives it its name. Io when there is something of that name meanwhile.
  Status Commit();

 private:
  PendingFolder(std::string path, std::string pending, FolderLock lock)
      : path_(std::move(path)), pending_(std::move(pending)), lock_(std::move(lock)) {}

  std::string path_;
  std::string pending_;  // empty: it has its name
  FolderLock lock_;
};

}  // namespace shardmill
