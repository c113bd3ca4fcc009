// What the PATH of a command names: a data set (its folder or manifest.json) or a single shard,
// seen in one way.
//
// Immutable after Open; safe for concurrent use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/base/status.h"
#include "reader/dataset.h"
#include "reader/shard_reader.h"

namespace shardmill {

namespace proto {
class Manifest;
}  // namespace proto

enum class PathKind { kDataset, kShard };

// NotFound when there is nothing at `path`; InvalidArgument when it is neither.
Result<PathKind> KindOfPath(const std::string& path);

// The folder of a data set that is named by its folder or by its manifest.json.
std::string DatasetFolder(const std::string& path);

// The last part of the path that says which set it is: "camvid-shards", or the shard's file name.
std::string SetName(const std::string& path);

// The manifest of a data set; when only the manifest is missing, the error says what helps.
Result<proto::Manifest> ReadManifestOf(const std::string& path);

// The manifest of a data set, without opening its shards; for one shard, what the shard says of
// itself in the form of a manifest.
Result<proto::Manifest> DescribePath(const std::string& path);

// A message for each shard of the manifest that is missing in `folder`, no regular file, or of
// another size. The shards are not opened.
std::vector<std::string> FindShardFileFaults(const std::string& folder,
                                             const proto::Manifest& manifest);

class ShardSet {
 public:
  struct Split {
    std::string name;
    uint64_t records = 0;
    std::vector<const ShardReader*> shards;
    std::vector<uint64_t> first_record;  // per shard, plus the total

    // The shard that holds a record, and the record's number in it; requires record < records.
    std::pair<const ShardReader*, uint64_t> Locate(uint64_t record) const;
  };

  // Opens the shards of one split, or all when `split` is empty.
  static Result<std::unique_ptr<ShardSet>> Open(const std::string& path, std::string_view split);
  ~ShardSet();

  const std::string& name() const { return name_; }
  const proto::Manifest& manifest() const { return *manifest_; }
  const RecordSchema& schema() const { return *schema_; }
  const std::vector<Split>& splits() const { return splits_; }  // at least one

 private:
  ShardSet();
  static Result<std::unique_ptr<ShardSet>> OpenShard(const std::string& path,
                                                     std::string_view split);
  static Result<std::unique_ptr<ShardSet>> OpenDataset(const std::string& path,
                                                       std::string_view split);
  void AddSplit(const std::string& name, std::vector<const ShardReader*> shards);

  std::string name_;
  std::unique_ptr<proto::Manifest> manifest_;
  const RecordSchema* schema_ = nullptr;  // of the data set or the shard
  std::shared_ptr<const Dataset> dataset_;
  std::unique_ptr<ShardReader> shard_;
  std::vector<Split> splits_;
};

}  // namespace shardmill
