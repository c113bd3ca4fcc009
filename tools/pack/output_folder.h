// The folder that a data set is written to: one pack at a time, and an old set stays usable until
// the new one is complete.
//
// Not for concurrent use. The destructor gives the lock back and leaves finished shards.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "reader/base/checksum.h"
#include "reader/base/folder_lock.h"
#include "reader/base/status.h"

namespace shardmill {

class OutputFolder {
 public:
  // Makes the folder when it is missing, and locks it. InvalidArgument when another pack holds
  // the lock, or when there is a data set, or shards of another one, and `overwrite` is false.
  // Shards without a manifest that have the id `dataset_id` are what a stopped pack of the same
  // set left: they will be written again.
  static Result<std::unique_ptr<OutputFolder>> Open(const std::string& path, bool overwrite,
                                                    const Digest& dataset_id);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // Where shards are to be written.
  const std::string& shard_folder() const { return shard_folder_; }

  // Takes the place of the old set, if there is one, and writes the manifest. All shards must
  // have been closed.
  Status Publish();

  // Removes what was written, for a set that can never be finished.
  void Discard();

 private:
  OutputFolder(std::string path, bool made_folder) : path_(std::move(path)), made_(made_folder) {}
  Status Lock();
  Status CheckOldSet(bool overwrite, const Digest& dataset_id);
  Status StartIncoming();
  Status ReplaceOldShards();

  const std::string path_;
  const bool made_;
  std::optional<FolderLock> lock_;
  std::string shard_folder_;  // path_, or a folder in it while an old set is there
};

}  // namespace shardmill
