// The folder that a data set is written to: locks, what an earlier pack left, and the end.
//
// A whole pack has the folder for itself. Ranks and slices share it: each claims the shard that
// it makes. Whoever comes first looks through what is there, keeps the finished shards of a pack
// of the same set that was stopped, removes what cannot be kept, and writes `.pack-state`; so in
// all that follows a shard that has its name is finished. An old set stays usable until the new
// one is complete. One that is complete, of the same plan, is left as it is.
//
// Not for concurrent use. The destructor gives the locks back and leaves finished shards.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/folder_lock.h"
#include "reader/base/launch.h"
#include "reader/base/status.h"
#include "tools/pack/output/pack_state.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

enum class FolderUse {
  kWhole,   // all shards, by this process alone
  kShared,  // shards beside other processes: a slice, or rank 0 of a job
  kHelper,  // another rank: it helps where rank 0 has not finished yet
  kFinish,  // only the manifest; nothing is removed
};

class OutputFolder {
 public:
  // Makes the folder when it is missing, and locks it. InvalidArgument when another process has
  // the lock, or when there is a data set, or an unfinished one that this plan cannot continue,
  // and `overwrite` was not asked for. The plan must outlive the object.
  static Result<std::unique_ptr<OutputFolder>> Open(const PackPlan& plan,
                                                    const PackOptions& options, FolderUse use,
                                                    const Launch& launch = Launch());
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // The data set is complete already: there is nothing to do, or for kHelper to help with.
  bool complete() const { return complete_; }
  // Publish() will remove what is in the folder for another data set.
  bool replaces() const { return shard_folder_ != path_; }
  // Where shards are to be written.
  const std::string& shard_folder() const { return shard_folder_; }
  // The finished shards of an earlier pack that are kept, in the order of the plan.
  const std::vector<PlannedShard>& kept() const { return kept_; }
  // What the user should know of what was found.
  const std::vector<std::string>& notes() const { return notes_; }

  bool IsFinished(const PlannedShard& shard) const;
  // Those of `shards` that are not finished.
  std::vector<PlannedShard> Missing(const std::vector<PlannedShard>& shards) const;
  // The right to make a shard; nothing while another process has it. `purpose` is told to others.
  Result<std::optional<FolderLock>> Claim(const PlannedShard& shard,
                                          const std::string& purpose) const;
  std::string ClaimHolder(const PlannedShard& shard) const;  // for a message

  // Waits until all others that share the folder have left it.
  Status WaitForOthers();

  // Takes the place of the old set, if there is one, and writes the manifest. All shards must be
  // finished, and the folder held alone. Until End() the same command does it again.
  Status Publish();
  // Nothing is left to be done.
  Status End();

  // Removes what was written, for a set that can never be finished. Does nothing in a folder that
  // is shared.
  void Discard();

 private:
  OutputFolder(const PackPlan& plan, const PackOptions& options, FolderUse use,
               const Launch& launch, bool made_folder);

  Status Enter();
  Result<bool> TryEnterAlone();   // false: the lock cannot be had
  Result<bool> TryEnterShared();  // false: there is nothing to share yet
  Status RefuseLocked() const;
  Result<bool> IsCompleteAlready();
  void FindKept(const PackState& state);
  Status ChooseFolder(const PackState& now);
  bool LookForFinishedSet(const StoredState& here, const StoredState& growing);
  Status ChooseWithoutState(const StoredState& here, const StoredState& growing);
  std::string StoppedReplacement() const;
  std::string OldSetRefusal(const StoredState& growing, const PackState& now) const;
  Status LeaveOldSet(const std::string& refusal, const StoredState& growing);
  Status LookAtOldSet();
  Status TakeStock(PackState now);
  Status JudgeForeign(const std::vector<std::string>& foreign);
  void NoteStale(size_t stale, size_t of_changed);
  std::optional<Digest> CanBeKept(const PlannedShard& shard) const;
  Status CleanUp(const std::vector<std::string>& stale, const PackState& now);
  Status RemoveLeftovers(const std::string& folder, const std::string& job_to_keep);

  const PackPlan& plan_;
  const PackOptions& options_;
  const FolderUse use_;
  const Launch launch_;
  const std::string path_;
  const bool made_;
  std::optional<FolderLock> lock_;
  std::string shard_folder_;         // path_, or a folder in it while an old set is there
  std::optional<PackState> before_;  // the state that was found in shard_folder_
  std::vector<PlannedShard> kept_;
  std::vector<std::string> unusable_;  // with kFinish: shards that have their name but do not fit
  std::vector<std::string> notes_;
  std::string changed_key_;  // an input for which the set that is there is not the plan's
  bool complete_ = false;
};

}  // namespace shardmill
