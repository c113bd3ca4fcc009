// Which ranks of a job have come to the folder that they pack into, and which have left it in
// order: small files beside the shards, so that a rank that died on its way is noticed.
//
// A mark names its job; those of earlier jobs mean nothing. Free functions without state. Where the
// launcher gives its jobs no name there are no marks, and every rank counts as one that has left.
#pragma once

#include <string>

#include "reader/base/launch.h"
#include "reader/base/status.h"

namespace shardmill {

enum class RankPresence { kNeverCame, kCame, kLeft };

// The name of the job as it stands in marks and claims: ", job 4711"; empty: it has none.
std::string JobText(const Launch& launch);

// For the rank that calls it.
Status MarkRank(const std::string& folder, const Launch& launch, RankPresence presence);
RankPresence PresenceOfRank(const std::string& folder, const Launch& launch, int rank);

bool IsRankMark(const std::string& name);

}  // namespace shardmill
