#include "tools/dump/shard_set.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "proto/manifest.pb.h"
#include "reader/base/file.h"
#include "reader/names.h"
#include "reader/unfinished_pack.h"

namespace shardmill {
namespace {

constexpr std::string_view kShardSuffix = ".shard";

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

proto::Manifest DescribeShard(const ShardReader& reader) {
  proto::Manifest manifest;
  const proto::ShardSchema& schema = reader.schema_message();
  manifest.set_format_version(1);
  manifest.set_dataset_id(DigestToHex(reader.dataset_id()));
  *manifest.mutable_fields() = schema.fields();
  *manifest.mutable_classes() = schema.classes();
  if (schema.has_ignore()) manifest.set_ignore(schema.ignore());
  *manifest.mutable_recipe() = schema.recipe();
  proto::Split* split = manifest.add_splits();
  split->set_name(schema.split());
  split->set_records(reader.records());
  *split->mutable_statistics() = reader.summary().statistics();
  *split->mutable_skipped() = reader.summary().skipped();
  proto::ShardInfo* shard = split->add_shards();
  shard->set_file(FileName(reader.path()));
  shard->set_records(reader.records());
  shard->set_bytes(reader.file_bytes());
  shard->set_digest(DigestToHex(reader.digest()));
  return manifest;
}

Status CheckShardFile(const std::string& path, uint64_t expected_bytes) {
  RETURN_IF_ERROR(CheckNamedShard(path));
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) return ErrnoError("cannot stat " + path, error.value());
  if (bytes == expected_bytes) return OkStatus();
  return DataLossError(path + " has " + std::to_string(bytes) + " bytes, the manifest says " +
                       std::to_string(expected_bytes));
}

// The number of files in the folder that are named like shards.
int CountShardFiles(const std::string& folder) {
  int count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (ParseShardFileName(entry->path().filename().string())) ++count;
  }
  return count;
}

// Says what helps when shards are there and only the manifest is missing.
Status AdviseOnMissingManifest(const Status& status, const std::string& folder) {
  const int shards = status.code() == StatusCode::kNotFound ? CountShardFiles(folder) : 0;
  if (shards == 0) return status;
  if (!FindUnfinishedPack(folder).description.empty()) return status;  // it says so
  return NotFoundError(status.message() + "; there are " + std::to_string(shards) +
                       " shards: `shardmill verify --rebuild-manifest " + folder +
                       "` makes the manifest again when the set is complete");
}

}  // namespace

Result<PathKind> KindOfPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return NotFoundError("there is no " + path);
  if (std::filesystem::is_directory(status)) return PathKind::kDataset;
  if (FileName(path) == kManifestFileName) return PathKind::kDataset;
  if (EndsWith(path, kShardSuffix)) return PathKind::kShard;
  return InvalidArgumentError(path + " is neither the folder of a packed data set nor its " +
                              std::string(kManifestFileName) + " nor a .shard file");
}

std::string DatasetFolder(const std::string& path) {
  return FileName(path) == kManifestFileName ? FolderName(path) : path;
}

std::string SetName(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(DatasetFolder(path), error);
  std::filesystem::path normal = absolute.lexically_normal();
  if (normal.filename().empty()) normal = normal.parent_path();
  const std::string name = normal.filename().string();
  return name.empty() ? path : name;
}

Result<proto::Manifest> ReadManifestOf(const std::string& path) {
  Result<proto::Manifest> manifest = ReadManifest(DatasetFolder(path));
  if (manifest.ok()) return manifest;
  return AdviseOnMissingManifest(manifest.status(), DatasetFolder(path));
}

Result<proto::Manifest> DescribePath(const std::string& path) {
  ASSIGN_OR_RETURN(const PathKind kind, KindOfPath(path));
  if (kind == PathKind::kDataset) return ReadManifestOf(path);
  ASSIGN_OR_RETURN(const auto reader, ShardReader::Open(path, ChecksumPolicy::kFirstTouch));
  return DescribeShard(*reader);
}

std::vector<std::string> FindShardFileFaults(const std::string& folder,
                                             const proto::Manifest& manifest) {
  std::vector<std::string> faults;
  for (const proto::Split& split : manifest.splits()) {
    for (const proto::ShardInfo& shard : split.shards()) {
      const Status status = CheckShardFile(JoinPath(folder, shard.file()), shard.bytes());
      if (!status.ok()) faults.push_back(status.message());
    }
  }
  return faults;
}

std::pair<const ShardReader*, uint64_t> ShardSet::Split::Locate(uint64_t record) const {
  SHARDMILL_CHECK(record < records);
  const auto next = std::upper_bound(first_record.begin(), first_record.end(), record);
  const size_t shard = static_cast<size_t>(next - first_record.begin()) - 1;
  return {shards[shard], record - first_record[shard]};
}

ShardSet::ShardSet() : manifest_(std::make_unique<proto::Manifest>()) {}
ShardSet::~ShardSet() = default;

Result<std::unique_ptr<ShardSet>> ShardSet::Open(const std::string& path, std::string_view split) {
  ASSIGN_OR_RETURN(const PathKind kind, KindOfPath(path));
  return kind == PathKind::kShard ? OpenShard(path, split) : OpenDataset(path, split);
}

Result<std::unique_ptr<ShardSet>> ShardSet::OpenShard(const std::string& path,
                                                      std::string_view split) {
  std::unique_ptr<ShardSet> set(new ShardSet());
  ASSIGN_OR_RETURN(set->shard_, ShardReader::Open(path, ChecksumPolicy::kFirstTouch));
  const std::string& name = set->shard_->schema_message().split();
  if (!split.empty() && split != name) {
    return InvalidArgumentError(path + " belongs to split " + name + ", not to " +
                                std::string(split));
  }
  set->name_ = SetName(path);
  *set->manifest_ = DescribeShard(*set->shard_);
  set->schema_ = &set->shard_->schema();
  set->AddSplit(name, {set->shard_.get()});
  return set;
}

Result<std::unique_ptr<ShardSet>> ShardSet::OpenDataset(const std::string& path,
                                                        std::string_view split) {
  std::unique_ptr<ShardSet> set(new ShardSet());
  RETURN_IF_ERROR(ReadManifestOf(path).status());
  ASSIGN_OR_RETURN(set->dataset_, Dataset::Open(path, split));
  set->name_ = SetName(path);
  *set->manifest_ = set->dataset_->manifest();
  set->schema_ = &set->dataset_->schema();
  for (const std::string& name : set->dataset_->split_names()) {
    ASSIGN_OR_RETURN(const Dataset::Split* opened, set->dataset_->split(name));
    std::vector<const ShardReader*> shards;
    for (int i = 0; i < opened->shard_count(); ++i) shards.push_back(&opened->shard(i));
    set->AddSplit(name, std::move(shards));
  }
  return set;
}

void ShardSet::AddSplit(const std::string& name, std::vector<const ShardReader*> shards) {
  Split split;
  split.name = name;
  split.first_record.push_back(0);
  for (const ShardReader* shard : shards) {
    split.records += shard->records();
    split.first_record.push_back(split.records);
  }
  split.shards = std::move(shards);
  splits_.push_back(std::move(split));
}

}  // namespace shardmill
