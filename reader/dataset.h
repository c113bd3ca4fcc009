// A packed data set: its manifest and the opened shards of each split.
//
// Immutable after Open; all methods may be called from several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/base/status.h"
#include "reader/manifest.h"
#include "reader/schema.h"
#include "reader/shard_reader.h"

namespace shardmill {

class Dataset {
 public:
  // Opens the manifest and the named split's shards (all splits when `split` is empty), and
  // checks that they agree: id, number, count, records, bytes, digest, schema.
  // `path` is the folder or its manifest.json.
  static Result<std::shared_ptr<const Dataset>> Open(const std::string& path,
                                                     std::string_view split = {},
                                                     const ReadOptions& options = {});
  ~Dataset();
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  const std::string& folder() const;
  const proto::Manifest& manifest() const;
  const RecordSchema& schema() const;

  class Split;
  std::vector<std::string> split_names() const;  // of the opened splits, in manifest order
  // InvalidArgument lists the names that exist.
  Result<const Split*> split(std::string_view name) const;

  // ShardReader::CheckUnchanged() of each opened shard. For the start of an epoch: a stat() per
  // shard.
  Status CheckUnchanged() const;

 private:
  struct Impl;
  explicit Dataset(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The records of one split, numbered 0 … records()-1 over its shards in order. Owned by Dataset.
class Dataset::Split {
 public:
  const std::string& name() const { return name_; }
  uint64_t records() const { return records_; }
  int shard_count() const { return static_cast<int>(shards_.size()); }
  const ShardReader& shard(int index) const { return *shards_[index]; }
  // The shard that holds a record, and the record's number in it. O(log shards).
  std::pair<const ShardReader*, uint64_t> Locate(uint64_t record) const;

 private:
  friend class Dataset;
  std::string name_;
  uint64_t records_ = 0;
  std::vector<std::unique_ptr<ShardReader>> shards_;
  std::vector<uint64_t> first_record_;  // per shard, plus the total
};

}  // namespace shardmill
