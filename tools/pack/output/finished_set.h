// Whether a folder holds the data set of a plan, complete: then the same command has nothing to do.
//
// Free functions without state.
#pragma once

#include <string>

#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

struct FinishedSet {
  bool is_there = false;
  // It would be there, but this input was changed after its shard was begun.
  std::string changed_key;
};

// By what the manifest and the shards say of themselves, without reading records, and by the times
// of the files: an input is taken for the same unless its content or its name is younger than its
// shard.
FinishedSet FindFinishedSet(const PackPlan& plan, const PackOptions& options,
                            const std::string& folder);

}  // namespace shardmill
