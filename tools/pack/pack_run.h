// Carries out a plan: all samples through the ordered pipeline into shards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/status.h"
#include "tools/pack/label_decode.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/pack_plan.h"
#include "tools/pack/rgb_convert.h"

namespace shardmill {

class Progress;

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
  uint64_t shapes_without_area = 0;  // points and lines of annotations, left out
  std::string unknown_labels;        // of skipped inputs: values that are no class; empty: none

  uint64_t inputs() const;
  uint64_t packed() const;
  uint64_t records() const;
  uint64_t skipped() const;
  uint64_t faulty() const;  // of those skipped: not left out by a rule
};

// Writes the shards of all splits to `folder`. The first input that cannot be packed ends it,
// unless the policy is to skip; values of labels that are no class are counted over the whole
// set first. A split without any record is an error.
Result<PackResult> RunPack(const PackPlan& plan, const PackOptions& options, int threads,
                           const std::string& folder, Progress* progress);

}  // namespace shardmill
