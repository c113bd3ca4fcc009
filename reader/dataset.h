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
#include "reader/schema.h"
#include "reader/shard_reader.h"

namespace shardmill {

namespace proto {
class Manifest;
}  // namespace proto

inline constexpr std::string_view kManifestFileName = "manifest.json";

// Reads and checks `folder`/manifest.json: its own digest, schema rules, file names.
Result<proto::Manifest> ReadManifest(const std::string& folder);
// Fills in the digest and writes the file atomically (temporary name, flush, rename).
Status WriteManifest(const std::string& folder, proto::Manifest manifest);
// Merges what the shards of a folder say of themselves into a manifest; DataLoss when shards
// are missing, damaged or of different data sets.
Result<proto::Manifest> RebuildManifest(const std::string& folder);

class Dataset {
 public:
  // Opens the manifest and the named split's shards (all splits when `split` is empty), and
  // checks that they agree: id, number, count, records, bytes, digest, schema.
  // `path` is the folder or its manifest.json.
  static Result<std::shared_ptr<const Dataset>> Open(
      const std::string& path, std::string_view split = {},
      ChecksumPolicy policy = ChecksumPolicy::kFirstTouch);
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
