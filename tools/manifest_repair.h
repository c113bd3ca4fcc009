// `verify --rebuild-manifest`: makes manifest.json again from what the shards say of themselves,
// unless that would erase what a sound manifest says of shards that are missing or were replaced,
// or take a pack that was stopped for a data set.
//
// Free functions without state; not beside a process that writes to the folder.
#pragma once

#include <string>

#include "reader/base/status.h"

namespace shardmill {

struct ManifestRepair {
  int shards = 0;
  bool agreed = false;  // the manifest was sound and said the same: it is left as it is
};

// DataLoss, and nothing is written, when a sound manifest differs from what is there.
// InvalidArgument for a folder in which a pack was stopped, or is at work.
Result<ManifestRepair> RepairManifest(const std::string& folder);

}  // namespace shardmill
