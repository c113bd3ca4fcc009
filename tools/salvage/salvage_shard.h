// Copies what can be saved of one shard. Part of salvage.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/status.h"
#include "reader/shard_writer.h"
#include "reader/verify_shard.h"
#include "tools/salvage/salvage_plan.h"

namespace shardmill {

// Whether the manifest names a shard of this name and place with other content.
bool IsAnotherThanNamed(const SalvageShard& shard, const ShardReport& report);

// Whether all that is sound is certainly of the shard that its own postscript, or the manifest,
// says by its digest.
bool IsProven(const SalvageShard& shard, const ShardReport& report);

// Of the blocks that were found.
uint64_t SoundRecords(const ShardReport& report);

// Of these, those that say that they are of the shard, and of which nothing proves it.
uint64_t UnprovenRecords(const SalvageShard& shard, const ShardReport& report);

// Fills in all_lost and lost_reason of the blocks of a shard of which nothing may be taken.
void LoseWholeShard(const std::string& reason, ShardReport* report);

struct LossOptions {
  std::string folder;  // of the damaged set
  FileAccess access = FileAccess::kMapped;
  bool footer_is_known = false;  // which inputs were left out is known from elsewhere
};

// What is lost of a shard, by block and record. `report` is null when there is no file.
std::vector<Loss> LossesOf(const SalvageShard& shard, const ShardReport* report,
                           const RecordSchema& schema, const LossOptions& options);

struct CopyOptions {
  std::string folder;  // to write to
  Digest dataset_id = {};
  FileAccess access = FileAccess::kMapped;
  // What its footer said of inputs and windows that were left out, where that is lost.
  const proto::ShardSummary* restored = nullptr;
  std::function<bool(uint64_t bytes)> advance;  // after each block; false: stop
};

// Writes the shard. Checks the sums of all it copies once more: DataLoss when the file changed
// since it was verified.
Result<ShardResult> CopySoundRecords(const SalvagePlan& plan, const SalvageShard& shard,
                                     const ShardReport* report, const CopyOptions& options);

}  // namespace shardmill
