// The plan of a pack: which input goes to which shard, decided before any pixel is decoded.
//
// It follows from the source folder and the options that change bytes alone, so every process
// that makes it makes the same one. Immutable once made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/schema.pb.h"
#include "reader/base/checksum.h"
#include "reader/base/status.h"
#include "reader/schema.h"
#include "reader/shard_writer.h"
#include "tools/pack/inputs/array_form.h"
#include "tools/pack/inputs/input_set.h"
#include "tools/pack/pack_options.h"
#include "tools/pack/records/raster.h"

namespace shardmill {

struct SplitPlan {
  std::string name;
  std::vector<Sample> samples;    // in the order of the shards
  std::vector<Problem> problems;  // inputs that are no samples; told in shard 0
  GeometryOptions geometry;
  uint64_t expected_records = 0;  // when no input is left out
  uint64_t inputs_per_shard = 1;
  uint32_t shard_count = 1;

  uint64_t ShardBegin(uint32_t shard) const { return shard * inputs_per_shard; }
  uint64_t ShardEnd(uint32_t shard) const {
    return std::min<uint64_t>(samples.size(), (shard + 1) * inputs_per_shard);
  }
};

// One shard of a plan.
struct PlannedShard {
  uint32_t split = 0;   // index of the split
  uint32_t number = 0;  // in the split
};

struct PackPlan {
  std::string root;  // the source folder
  Task task = Task::kSegmentation;
  RecordSchema schema;  // `ignore` is also the padding of labels
  LabelRules labels;
  RasterForm raster;               // with PackOptions::bands
  DType label_dtype = DType::kU8;  // of class ids, before any one-hot encoding
  proto::Recipe recipe;
  Digest dataset_id = {};
  ImageSize window;           // of every record; 0 × 0: each has its own
  std::string sizes;          // then: which ones, in words
  bool holds_arrays = false;  // in place of images
  uint64_t record_bytes = 0;  // uncompressed, on average
  uint64_t largest_record_bytes = 0;
  uint32_t records_per_block = 1;
  std::vector<SplitPlan> splits;
  // Of their samples those that were found to be faulty already. They are part of the plan like the
  // others, but for what it expects of the sizes: only packing leaves them out.
  std::vector<Problem> faulty;

  uint64_t inputs() const;
  uint64_t source_bytes() const;
  uint64_t expected_records() const;
  // Of all shards when nothing is compressed, with headers, tables and padding.
  uint64_t most_bytes() const;

  // Split after split: the place in this list is the number that --shards means.
  std::vector<PlannedShard> AllShards() const;
  ShardPlan ShardPlanOf(const PlannedShard& shard) const;
  std::string FileNameOf(const PlannedShard& shard) const;
  uint64_t InputsOf(const PlannedShard& shard) const;
  // What the shards of a split say of their schema.
  proto::ShardSchema SchemaOf(const SplitPlan& split) const;
};

// What the plan must know of the images' sizes; see set_sizes.h.
struct SetSizes {
  ImageSize window;                    // of the records, where no option gives it and they have one
  std::vector<uint64_t> records = {};  // per split of the set; empty: they follow from the options
  uint64_t mean_pixels = 0;            // of the records, where they have several sizes
  uint64_t largest_pixels = 0;
  std::string sizes = {};               // those, in words
  std::optional<ArrayForm> array = {};  // of a set of arrays, which have no window
  RasterForm raster = {};               // with PackOptions::bands
  std::vector<Problem> faulty = {};     // inputs whose size is not known or too large
};

// How windows are placed in a split: what is random happens in train alone.
GeometryOptions SplitGeometry(const PackOptions& options, const std::string& split);

// InvalidArgument when options contradict each other or the set.
Result<PackPlan> MakePlan(InputSet set, const PackOptions& options, const SetSizes& sizes);

}  // namespace shardmill
