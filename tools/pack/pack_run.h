// Carries out a plan: the samples of its shards through the ordered pipeline.
//
// Not for concurrent use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

class Progress;

class PackRun {
 public:
  // The plan, the options and `progress` must outlive the object.
  PackRun(const PackPlan& plan, const PackOptions& options, int threads, std::string folder,
          Progress* progress);
  ~PackRun();
  PackRun(const PackRun&) = delete;
  PackRun& operator=(const PackRun&) = delete;

  // Writes these shards. The first input that cannot be packed ends it, unless the policy is to
  // skip; values of labels that are no class are counted over the inputs of all these shards
  // first. After an error the shards before it are complete.
  Status Pack(std::vector<PlannedShard> shards);

  // Of inputs that were skipped: a table of the label values that are no class; empty: none.
  std::string UnknownLabels() const;
  // The key of the first array with NaN or infinite numbers; empty: none.
  std::string NotFiniteExample() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shardmill
