// What the manifest still knows of shards whose footers are lost. Part of salvage.h.
#pragma once

#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/verify_shard.h"
#include "tools/salvage/salvage_plan.h"

namespace shardmill {

// A part of a footer.
struct RestoredFooter {
  bool is_known = false;
  // The inputs that were left out, and how many windows of others. No other statistics.
  proto::ShardSummary summary;
};

// For each shard of the plan; `reports` are null where there is no file. The lists of a split in
// the manifest are those of its shards in order: what is not in any footer belongs to those that
// are lost. Of several lost ones in a row the first gets all, and a remark says so. Nothing is
// known without a manifest, or when the footers do not fit it.
std::vector<RestoredFooter> RestoreFooters(const SalvagePlan& plan,
                                           const std::vector<const ShardReport*>& reports,
                                           std::vector<std::string>* remarks);

}  // namespace shardmill
