// Which of several files that say that they are the same shard is the one. Part of salvage.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reader/verify_shard.h"
#include "tools/salvage/salvage_plan.h"

namespace shardmill {

// Whether two files are the same shard, damage apart.
enum class Kinship { kSame, kOther, kUnknown };
// By their digests, else by the sums of the block headers that both still have.
Kinship KinshipOf(const ShardReport& a, const ShardReport& b);

// Why nothing of a file may be taken for the shard; empty: it may. Holds for a mended one as well.
std::string WhyRefused(const SalvageShard& shard, const ShardReport& report);

// The number of the file to take; -1 when there is none. Files that are refused come last. First
// come those with something to save that have the digest that the manifest says, then those of
// which this is not known any more. Among them, a stale file must not win over the one with the
// right name, so that next come that one and those that are not known to differ from it; then those
// of which more can be saved, and of which more parts are sound.
int ChooseSource(const SalvageShard& shard, const std::vector<ShardReport*>& files);

// The files but `best` get a remark, and their blocks are dropped: their keys are no duplicates.
// `used` are those of which something was taken to mend the best one.
void LeaveOthersAside(const SalvageShard& shard, const std::vector<ShardReport*>& files,
                      size_t best, const std::vector<size_t>& used,
                      std::vector<std::string>* remarks);

}  // namespace shardmill
