// Which of several files that say that they are the same shard is the one. Part of salvage.h.
#pragma once

#include <string>
#include <vector>

#include "reader/verify_shard.h"
#include "tools/salvage/salvage_plan.h"

namespace shardmill {

// The number of the file to take; -1 when there is none. First come files that have the digest that
// the manifest says, then those of which this is not known any more. Among them, a stale file must
// not win over the one with the right name, so that next come that one and those that do not differ
// from it; then those of which more can be saved, and of which more parts are sound. The others get
// a remark, and their blocks are dropped: their keys are no duplicates.
int ChooseSource(const SalvageShard& shard, const std::vector<ShardReport*>& files,
                 std::vector<std::string>* remarks);

}  // namespace shardmill
