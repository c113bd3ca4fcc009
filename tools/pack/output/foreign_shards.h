// Which shards in a folder are certainly those of a plan: nothing else may be removed unasked.
//
// Free functions without state.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

// What is known of the folder beside its files.
enum class FolderPast {
  kUnknown,
  kStoppedPack,  // a pack was stopped there: it may have left files that nobody can read
};

// Those of `names`, files in `folder`, that are not certainly shards of the plan's data set: a
// shard of the plan has one of its names, is a regular file and says the plan's data set id. One
// that does not say any id any more counts as the plan's only where a pack was stopped.
std::vector<std::string> ForeignShards(const PackPlan& plan, const std::string& folder,
                                       const std::vector<std::string>& names, FolderPast past);

// The shards in `folder` that its manifest does not name; all, where it cannot be read.
Result<std::vector<std::string>> UnnamedShards(const std::string& folder);
// InvalidArgument when what stands in a new set's way cannot be removed: a folder of that name.
Status CheckRemovable(const std::string& folder);

// The names of all shards of the plan, sorted.
std::vector<std::string> PlannedNames(const PackPlan& plan);

// "train-00000-of-00004.shard", or "3 shards, such as train-00000-of-00004.shard".
std::string DescribeShards(const std::vector<std::string>& names);

}  // namespace shardmill
