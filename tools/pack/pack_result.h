// What a pack came to, as its finished shards tell it: so the report is the same whether one
// process made them at once, or several, or after a kill.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/status.h"
#include "tools/pack/decode/rgb_convert.h"
#include "tools/pack/labels/label_decode.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

struct SplitResult {
  std::string name;
  uint64_t inputs = 0;  // = packed + skipped.size()
  uint64_t packed = 0;
  uint64_t records = 0;  // one or more per packed input
  uint64_t shards = 0;
  uint64_t shard_bytes = 0;                   // files
  uint64_t image_bytes = 0, label_bytes = 0;  // as stored
  uint64_t source_bytes = 0;                  // of what was packed
  std::vector<Problem> skipped;
  proto::Statistics statistics;
};

struct PackResult {
  std::vector<SplitResult> splits;
  ConversionCounts conversions = {};
  LabelKindCounts label_kinds = {};
  uint64_t approximated_pixels = 0;  // of labels, rounded to the value of a class
  uint64_t approximated_labels = 0;  // files with such pixels
  uint64_t clipped_labels = 0;       // files that may have been cut to 8 bits
  uint64_t shapes_without_area = 0;  // of annotations, left out: they cover no pixel
  // Of inputs that were skipped in this run: values that are no class; empty: none.
  std::string unknown_labels;
  std::string
      not_finite_example;  // the first array of this run with NaN or infinite numbers; empty: none
  uint64_t kept_shards = 0;  // from an earlier run

  uint64_t inputs() const;
  uint64_t packed() const;
  uint64_t records() const;
  uint64_t skipped() const;
  uint64_t faulty() const;  // of those skipped: not left out by a rule
  uint64_t shards() const;
};

// Of these finished shards in `folder`, in the order of the plan; splits without any are left
// out. DataLoss when one does not fit the plan.
Result<PackResult> ReadPackResult(const PackPlan& plan, const std::vector<PlannedShard>& shards,
                                  const std::string& folder);

// DataLoss when a split holds no record.
Status CheckNoSplitIsEmpty(const PackResult& result);

}  // namespace shardmill
