#include "reader/dataset.h"

#include <algorithm>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/file.h"
#include "reader/named_shards.h"

namespace shardmill {
namespace {

// The folder of a data set that is named by the folder or by its manifest.
std::string FolderOf(const std::string& path) {
  return FileName(path) == kManifestFileName ? FolderName(path) : path;
}

Result<std::unique_ptr<ShardReader>> OpenShard(const std::string& folder,
                                               const proto::Manifest& manifest,
                                               const proto::Split& split, int number,
                                               const ReadOptions& options) {
  const std::string path = JoinPath(folder, split.shards(number).file());
  const Status there = CheckNamedShard(path);
  if (!there.ok() && NamesNoneOfTheShards(folder, manifest)) {
    return Status(there.code(), there.message() + "; " + std::string(kNamesNone));
  }
  RETURN_IF_ERROR(there);
  ASSIGN_OR_RETURN(std::unique_ptr<ShardReader> shard, ShardReader::Open(path, options));
  const ShardFacts facts = {shard->dataset_id(),     shard->shard_number(), shard->shard_count(),
                            shard->records(),        shard->file_bytes(),   shard->digest(),
                            &shard->schema_message()};
  const Status status = CheckAgainstManifest(facts, manifest, split, number);
  if (!status.ok()) return status.WithContext(path);
  return shard;
}

Status NoSuchSplit(const std::string& folder, std::string_view name,
                   const std::vector<std::string>& existing) {
  std::string list;
  for (const std::string& split : existing) list += (list.empty() ? "" : ", ") + split;
  return InvalidArgumentError(folder + " has no split \"" + std::string(name) +
                              "\"; it has: " + list);
}

}  // namespace

struct Dataset::Impl {
  Status OpenSplit(const proto::Split& message, const ReadOptions& options);

  std::string folder;
  proto::Manifest manifest;
  RecordSchema schema;
  std::vector<std::unique_ptr<Split>> splits;
};

Status Dataset::Impl::OpenSplit(const proto::Split& message, const ReadOptions& options) {
  auto opened = std::make_unique<Split>();
  opened->name_ = message.name();
  for (int k = 0; k < message.shards_size(); ++k) {
    ASSIGN_OR_RETURN(std::unique_ptr<ShardReader> shard,
                     OpenShard(folder, manifest, message, k, options));
    opened->first_record_.push_back(opened->records_);
    opened->records_ += shard->records();
    opened->shards_.push_back(std::move(shard));
  }
  opened->first_record_.push_back(opened->records_);
  splits.push_back(std::move(opened));
  return OkStatus();
}

Dataset::Dataset(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Dataset::~Dataset() = default;

Result<std::shared_ptr<const Dataset>> Dataset::Open(const std::string& path,
                                                     std::string_view split,
                                                     const ReadOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->folder = FolderOf(path);
  ASSIGN_OR_RETURN(impl->manifest, ReadManifest(impl->folder));
  ASSIGN_OR_RETURN(impl->schema, CheckManifest(impl->manifest));
  std::vector<std::string> existing;
  for (const proto::Split& message : impl->manifest.splits()) {
    existing.push_back(message.name());
    if (!split.empty() && message.name() != split) continue;
    RETURN_IF_ERROR(
        ExplainByReplacement(impl->folder, impl->manifest, impl->OpenSplit(message, options)));
  }
  if (impl->splits.empty()) return NoSuchSplit(impl->folder, split, existing);
  return std::shared_ptr<const Dataset>(new Dataset(std::move(impl)));
}

const std::string& Dataset::folder() const { return impl_->folder; }
const proto::Manifest& Dataset::manifest() const { return impl_->manifest; }
const RecordSchema& Dataset::schema() const { return impl_->schema; }

std::vector<std::string> Dataset::split_names() const {
  std::vector<std::string> names;
  for (const auto& split : impl_->splits) names.push_back(split->name());
  return names;
}

Result<const Dataset::Split*> Dataset::split(std::string_view name) const {
  for (const auto& split : impl_->splits) {
    if (split->name() == name) return static_cast<const Split*>(split.get());
  }
  return NoSuchSplit(impl_->folder, name, split_names());
}

Status Dataset::CheckUnchanged() const {
  for (const auto& split : impl_->splits) {
    for (const auto& shard : split->shards_) RETURN_IF_ERROR(shard->CheckUnchanged());
  }
  return OkStatus();
}

std::pair<const ShardReader*, uint64_t> Dataset::Split::Locate(uint64_t record) const {
  SHARDMILL_CHECK(record < records_);
  // The last shard that begins at or before the record; empty shards share a first record with
  // the next one, so it is never one of them.
  const auto after = std::upper_bound(first_record_.begin(), first_record_.end(), record);
  const size_t index = static_cast<size_t>(after - first_record_.begin()) - 1;
  return {shards_[index].get(), record - first_record_[index]};
}

}  // namespace shardmill
