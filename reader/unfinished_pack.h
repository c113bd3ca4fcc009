// Why a folder may hold no data set, or only parts of one: a pack is at work there, or was stopped.
//
// Free functions without state.
#pragma once

#include <string>

namespace shardmill {

struct UnfinishedPack {
  std::string description;  // what it is, and what to do; empty: there is none
  bool is_at_work = false;  // a process that is not known to have ended has the folder
};

UnfinishedPack FindUnfinishedPack(const std::string& folder);

}  // namespace shardmill
