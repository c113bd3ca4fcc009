#include "reader/manifest.h"

#include <google/protobuf/util/json_util.h>
#include <sys/stat.h>

#include <cerrno>
#include <set>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/file.h"
#include "reader/base/file_remnants.h"
#include "reader/names.h"
#include "reader/serialize.h"
#include "reader/shard_format.h"
#include "reader/unfinished_pack.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxManifestBytes = uint64_t{256} << 20;

std::string ManifestPath(const std::string& folder) {
  return JoinPath(folder, std::string(kManifestFileName));
}

Status CheckShardInfo(const proto::ShardInfo& shard, const std::string& expected_name) {
  if (shard.file() != expected_name) {
    return DataLossError("the shard in the place of " + expected_name + " has another name");
  }
  if (!DigestFromHex(shard.digest())) {
    return DataLossError("the digest of " + expected_name + " is not 32 hex digits");
  }
  return OkStatus();
}

Status CheckSplit(const proto::Split& split) {
  if (!IsPlainName(split.name())) return DataLossError("a split name is not allowed");
  if (split.shards_size() < 1 || split.shards_size() > static_cast<int>(kMaxShards)) {
    return DataLossError("split " + split.name() + " has " + std::to_string(split.shards_size()) +
                         " shards; 1 to 10000 are allowed");
  }
  const uint32_t count = static_cast<uint32_t>(split.shards_size());
  uint64_t records = 0;
  for (uint32_t k = 0; k < count; ++k) {
    const proto::ShardInfo& shard = split.shards(static_cast<int>(k));
    RETURN_IF_ERROR(CheckShardInfo(shard, ShardFileName(split.name(), k, count)));
    if (__builtin_add_overflow(records, shard.records(), &records)) {
      return DataLossError("split " + split.name() + " says impossibly many records");
    }
  }
  if (records != split.records()) {
    return DataLossError("split " + split.name() + " says " + std::to_string(split.records()) +
                         " records, its shards say " + std::to_string(records));
  }
  return OkStatus();
}

Result<std::string> ToJson(const proto::Manifest& manifest) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(manifest, &json, options);
  if (!status.ok()) {
    return InternalError("cannot write the manifest as JSON: " + std::string(status.message()));
  }
  return json;
}

Result<proto::Manifest> FromJson(const std::string& json) {
  proto::Manifest manifest;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &manifest);
  if (!status.ok()) {
    return DataLossError("the manifest is damaged, or a newer version wrote it: " +
                         std::string(status.message()));
  }
  return manifest;
}

}  // namespace

std::string ManifestDigest(const proto::Manifest& manifest) {
  proto::Manifest without_digest = manifest;
  without_digest.clear_digest();
  return DigestToHex(Digest128(SerializeDeterministic(without_digest)));
}

proto::ShardSchema ShardSchemaOf(const proto::Manifest& manifest, const std::string& split) {
  proto::ShardSchema schema;
  schema.set_split(split);
  *schema.mutable_fields() = manifest.fields();
  *schema.mutable_classes() = manifest.classes();
  if (manifest.has_ignore()) schema.set_ignore(manifest.ignore());
  if (manifest.has_recipe()) *schema.mutable_recipe() = manifest.recipe();
  return schema;
}

Result<RecordSchema> CheckManifest(const proto::Manifest& manifest) {
  if (manifest.format_version() == 0) {
    return DataLossError("the manifest is damaged: it says no format version");
  }
  if (manifest.format_version() != kFormatVersion) {
    return InvalidArgumentError("format version " + std::to_string(manifest.format_version()) +
                                "; this build reads version 1, use a newer one");
  }
  if (!DigestFromHex(manifest.dataset_id())) {
    return DataLossError("the data set id is not 32 hex digits");
  }
  std::set<std::string> names;
  for (const proto::Split& split : manifest.splits()) {
    RETURN_IF_ERROR(CheckSplit(split));
    if (!names.insert(split.name()).second) {
      return DataLossError("split " + split.name() + " occurs twice");
    }
  }
  if (names.empty()) return DataLossError("there are no splits");
  return RecordSchemaFromProto(ShardSchemaOf(manifest, *names.begin()));
}

Result<proto::Manifest> ParseManifest(const std::string& json) {
  ASSIGN_OR_RETURN(proto::Manifest manifest, FromJson(json));
  RETURN_IF_ERROR(CheckManifest(manifest).status());
  if (ManifestDigest(manifest) != manifest.digest()) {
    return DataLossError("the manifest is damaged or was edited: its digest differs");
  }
  return manifest;
}

Result<proto::Manifest> ReadManifest(const std::string& folder) {
  const std::string path = ManifestPath(folder);
  const Result<std::string> json = ReadFile(path, kMaxManifestBytes);
  if (json.status().code() == StatusCode::kNotFound) {
    const std::string pack = FindUnfinishedPack(folder).description;
    return NotFoundError(
        path + " does not exist: " +
        (pack.empty() ? "the folder is no data set, or packing it was not finished" : pack));
  }
  // A folder, a pipe, something far too large: what has the name of a manifest is none.
  if (json.status().code() == StatusCode::kInvalidArgument) {
    return DataLossError(json.status().message() + ": it is no manifest");
  }
  if (!json.ok()) return json.status();
  Result<proto::Manifest> manifest = ParseManifest(*json);
  if (!manifest.ok()) return manifest.status().WithContext(path);
  return manifest;
}

Status WriteManifest(const std::string& folder, proto::Manifest manifest) {
  const std::string path = ManifestPath(folder);
  manifest.set_digest(ManifestDigest(manifest));
  const Status status = CheckManifest(manifest).status();
  if (!status.ok()) return InvalidArgumentError(path + ": " + status.message());
  ASSIGN_OR_RETURN(const std::string json, ToJson(manifest));
  // JSON drops bytes that are not UTF-8 without a word; then it does not say what it should.
  const Result<proto::Manifest> again = FromJson(json);
  if (!again.ok() || ManifestDigest(*again) != manifest.digest()) {
    return InvalidArgumentError(path + ": the manifest holds text that is not UTF-8");
  }
  if (json.size() > kMaxManifestBytes) {
    return InvalidArgumentError(path + " would hold more than " +
                                std::to_string(kMaxManifestBytes) +
                                " bytes: too many inputs were left out, or there are too many "
                                "classes or splits");
  }
  RemoveRemnants(path);
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RETURN_IF_ERROR(file.Append(json.data(), json.size()));
  return file.Commit();
}

Status CheckAgainstManifest(const ShardFacts& facts, const proto::Manifest& manifest,
                            const proto::Split& split, int number) {
  const proto::ShardInfo& shard = split.shards(number);
  if (DigestToHex(facts.dataset_id) != manifest.dataset_id()) {
    return DataLossError("the shard belongs to data set " + DigestToHex(facts.dataset_id) +
                         ", the manifest is of " + manifest.dataset_id());
  }
  if (facts.shard_number != static_cast<uint32_t>(number) ||
      facts.shard_count != static_cast<uint32_t>(split.shards_size())) {
    return DataLossError("the shard says that it is number " + std::to_string(facts.shard_number) +
                         " of " + std::to_string(facts.shard_count) + ": was it renamed?");
  }
  if (facts.records != shard.records() || facts.file_bytes != shard.bytes()) {
    return DataLossError("the shard has " + std::to_string(facts.records) + " records in " +
                         std::to_string(facts.file_bytes) + " bytes, the manifest says " +
                         std::to_string(shard.records()) + " in " + std::to_string(shard.bytes()));
  }
  if (DigestToHex(facts.digest) != shard.digest()) {
    return DataLossError("the shard has digest " + DigestToHex(facts.digest) +
                         ", the manifest says " + shard.digest());
  }
  if (facts.schema != nullptr &&
      SerializeDeterministic(*facts.schema) !=
          SerializeDeterministic(ShardSchemaOf(manifest, split.name()))) {
    return DataLossError("the shard has another schema, split or recipe than the manifest");
  }
  return OkStatus();
}

Status CheckIsRegularFile(const std::string& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return NotFoundError(path + " does not exist");
    return ErrnoError("cannot stat " + path, errno);
  }
  if (!S_ISREG(info.st_mode)) return DataLossError(path + " is not a regular file");
  return OkStatus();
}

Status CheckNamedShard(const std::string& path) {
  const Status status = CheckIsRegularFile(path);
  if (status.code() != StatusCode::kNotFound) return status;
  return DataLossError(status.message() + ", the manifest names it");
}

}  // namespace shardmill
