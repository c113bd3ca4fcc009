// Carries out a plan in its output folder, as a whole pack, as one of several processes that share
// it, or as the last step alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/launch.h"
#include "reader/base/status.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"
#include "tools/pack/pack_result.h"
#include "tools/progress.h"

namespace shardmill {

struct SetWriting {
  Launch launch;
  int threads = 1;
  std::vector<PlannedShard> shards;  // of the whole plan, or those of --shards
  std::function<void(const std::string&)> note;
  // Inputs to be packed, of all processes.
  std::function<std::unique_ptr<Progress>(uint64_t total)> start_progress;
  // Called when the manifest is written, while the folder is still locked and a pack that is killed
  // is still one to go on with.
  std::function<void(const PackResult&)> write_report;
};

struct WrittenSet {
  // Another rank than 0, which has nothing to report.
  bool helped = false;
  bool complete = false;             // the manifest is written
  bool was_there = false;            // and was before: nothing had to be done
  bool held_back = false;            // it could be, but too much was skipped to replace a set
  PackResult result;                 // of all shards, or those of the slice that are finished
  std::vector<std::string> missing;  // names of planned shards that are not finished
};

// On an error finished shards stay for the same command to go on with, and the message says so;
// except when inputs or options must be changed first, and this process has the folder alone.
Result<WrittenSet> WriteSet(const PackPlan& plan, const PackOptions& options,
                            const SetWriting& writing);

}  // namespace shardmill
