#include "tools/salvage/salvage_plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/file.h"
#include "reader/manifest.h"
#include "reader/named_shards.h"
#include "reader/names.h"
#include "reader/serialize.h"
#include "reader/shard_parts.h"
#include "reader/unfinished_pack.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

// What a file says of itself, as far as it can be read.
struct Peek {
  std::string path;
  ShardName name;  // by its file name; by its content where that is sound
  std::optional<Digest> dataset_id;
  uint32_t records_per_block = 0;
  std::unique_ptr<proto::ShardSchema> schema;  // null: lost
  std::string newer;                           // why this version of the program cannot read it
};

// Whether the machine cannot read what is there.
bool IsFailure(const InputFile& file, const Status& status) {
  return status.code() == StatusCode::kIo && file.CheckUnchanged().ok();
}

Result<Peek> PeekAt(const std::string& folder, const std::string& file, FileAccess access) {
  Peek peek;
  peek.path = JoinPath(folder, file);
  peek.name = *ParseShardFileName(file);
  const auto opened = InputFile::Open(peek.path, access);
  if (opened.status().code() == StatusCode::kIo) return opened.status();
  if (!opened.ok()) return peek;
  ShardParts parts;
  const Result<Superblock> superblock = ReadSuperblock(**opened);
  if (IsFailure(**opened, superblock.status())) return superblock.status().WithContext(peek.path);
  if (superblock.status().code() == StatusCode::kInvalidArgument) {
    // Where a newer version says which shard it is, is not known.
    peek.newer = superblock.status().message();
    return peek;
  }
  if (!superblock.ok()) {
    const Result<Postscript> postscript = ReadPostscript(**opened);
    if (!postscript.ok()) return peek;
    peek.dataset_id = postscript->dataset_id;
    peek.name = {peek.name.split, postscript->shard_number, postscript->shard_count};
    return peek;
  }
  parts.superblock = *superblock;
  peek.name = {peek.name.split, superblock->shard_number, superblock->shard_count};
  peek.dataset_id = superblock->dataset_id;
  peek.records_per_block = superblock->records_per_block;
  const Status schema = ReadSchema(**opened, &parts);
  if (IsFailure(**opened, schema)) return schema.WithContext(peek.path);
  if (schema.code() == StatusCode::kInvalidArgument) peek.newer = schema.message();
  if (!schema.ok()) return peek;
  peek.schema = std::move(parts.schema_message);
  peek.name.split = peek.schema->split();
  return peek;
}

Result<std::vector<Peek>> PeekAtAll(const std::string& folder, FileAccess access,
                                    std::vector<std::string>* remarks) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!ParseShardFileName(name)) continue;
    const Status status = CheckIsRegularFile(JoinPath(folder, name));
    status.ok() ? names.push_back(name) : remarks->push_back(status.message() + "; left aside");
  }
  std::sort(remarks->begin(), remarks->end());
  if (error) return IoError("cannot list " + folder + ": " + error.message());
  if (names.empty()) return NotFoundError(folder + " holds no shards");
  std::sort(names.begin(), names.end());
  std::vector<Peek> peeks;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(Peek peek, PeekAt(folder, name, access));
    peeks.push_back(std::move(peek));
  }
  const bool all_are_newer =
      std::all_of(peeks.begin(), peeks.end(), [](const Peek& peek) { return !peek.newer.empty(); });
  if (all_are_newer) return InvalidArgumentError(peeks[0].path + ": " + peeks[0].newer);
  return peeks;
}

// The value that most have; of equally many, the smallest.
template <typename Value>
std::optional<Value> MostFrequent(const std::vector<Value>& values) {
  std::map<Value, size_t> counts;
  for (const Value& value : values) ++counts[value];
  std::optional<Value> best;
  for (const auto& [value, count] : counts) {
    if (!best || count > counts[*best]) best = value;
  }
  return best;
}

std::string SchemaBytes(proto::ShardSchema schema) {
  schema.clear_split();
  return SerializeDeterministic(schema);
}

// The shards that there must be, without their files.
std::vector<SalvageShard> ShardsOf(const proto::Manifest* manifest,
                                   const std::vector<Peek>& peeks) {
  std::vector<SalvageShard> shards;
  if (manifest != nullptr) {
    for (const proto::Split& split : manifest->splits()) {
      for (int k = 0; k < split.shards_size(); ++k) {
        shards.push_back({split.name(),
                          static_cast<uint32_t>(k),
                          static_cast<uint32_t>(split.shards_size()),
                          {},
                          split.shards(k).records(),
                          DigestFromHex(split.shards(k).digest()),
                          {}});
      }
    }
    return shards;
  }
  std::map<std::string, std::vector<uint32_t>> counts;
  for (const Peek& peek : peeks) counts[peek.name.split].push_back(peek.name.count);
  for (const auto& [split, all] : counts) {
    const uint32_t count = *MostFrequent(all);
    for (uint32_t k = 0; k < count; ++k) {
      shards.push_back({split, k, count, {}, std::nullopt, std::nullopt, {}});
    }
  }
  return shards;
}

std::vector<SalvageShard>::iterator PlaceOf(const Peek& peek, std::vector<SalvageShard>* shards) {
  return std::find_if(shards->begin(), shards->end(), [&](const SalvageShard& candidate) {
    return candidate.split == peek.name.split && candidate.number == peek.name.number &&
           candidate.count == peek.name.count;
  });
}

// Sets that were packed of the same inputs with the same recipe but into other shards have the same
// id. Then the manifest knows none of the shards that are there.
bool KnowsNone(const proto::Manifest& manifest, const std::vector<Peek>& peeks) {
  std::vector<SalvageShard> shards = ShardsOf(&manifest, peeks);
  return std::none_of(peeks.begin(), peeks.end(),
                      [&](const Peek& peek) { return PlaceOf(peek, &shards) != shards.end(); });
}

void PutInPlace(const Peek& peek, SalvagePlan* plan) {
  const auto shard = PlaceOf(peek, &plan->shards);
  if (!peek.newer.empty()) {
    plan->remarks.push_back(peek.path + " needs a newer reader: " + peek.newer + "; left aside");
    if (shard != plan->shards.end()) shard->newer = peek.newer;
    return;
  }
  if (shard == plan->shards.end()) {
    plan->remarks.push_back(peek.path + " is no part of the set; left aside");
    return;
  }
  shard->sources.push_back(peek.path);
}

Status FindSchema(const std::vector<Peek>& peeks, SalvagePlan* plan) {
  if (plan->manifest != nullptr) {
    const proto::Manifest& manifest = *plan->manifest;
    plan->schema_message =
        std::make_unique<proto::ShardSchema>(ShardSchemaOf(manifest, manifest.splits(0).name()));
  }
  std::vector<std::string> schemas;
  for (const Peek& peek : peeks) {
    if (peek.schema != nullptr) schemas.push_back(SchemaBytes(*peek.schema));
  }
  // Without a manifest a single stray shard must not speak for all others.
  const std::optional<std::string> most = MostFrequent(schemas);
  for (const Peek& peek : peeks) {
    if (plan->schema_message == nullptr && peek.schema != nullptr &&
        SchemaBytes(*peek.schema) == most) {
      plan->schema_message = std::make_unique<proto::ShardSchema>(*peek.schema);
    }
    plan->records_per_block = std::max(plan->records_per_block, peek.records_per_block);
  }
  if (plan->schema_message == nullptr) {
    return DataLossError(plan->folder +
                         ": the schemas of all shards and the manifest are lost; nothing says what "
                         "a record consists of");
  }
  ASSIGN_OR_RETURN(plan->schema, RecordSchemaFromProto(*plan->schema_message));
  return OkStatus();
}

// Without a manifest nobody knows of what is missing altogether: that is a loss, too.
void LoseManifest(const std::string& reason, SalvagePlan* plan) {
  Loss loss;
  loss.file = JoinPath(plan->folder, std::string(kManifestFileName));
  loss.records = 0;
  loss.reason = reason + "; it is left aside: splits of which no shard is left are not known";
  plan->losses.push_back(std::move(loss));
  plan->manifest.reset();
}

Status TakeManifest(SalvagePlan* plan) {
  Result<proto::Manifest> read = ReadManifest(plan->folder);
  // That it cannot be read does not mean that there is none.
  if (read.status().code() == StatusCode::kIo) return read.status();
  const bool is_missing = read.status().code() == StatusCode::kNotFound;
  if (is_missing && FindUnfinishedPack(plan->folder).is_at_work) return read.status();
  if (read.ok()) {
    plan->manifest = std::make_unique<proto::Manifest>(std::move(read).value());
  } else {
    LoseManifest("the manifest cannot be used: " + read.status().message(), plan);
  }
  return OkStatus();
}

// The manifest of another packing of the same inputs still knows the splits.
void LoseOtherPacking(const std::vector<Peek>& peeks, SalvagePlan* plan) {
  const std::unique_ptr<proto::Manifest> manifest = std::move(plan->manifest);
  LoseManifest(std::string(kNamesNone), plan);
  for (const proto::Split& split : manifest->splits()) {
    const bool is_there = std::any_of(peeks.begin(), peeks.end(), [&](const Peek& peek) {
      return peek.name.split == split.name();
    });
    if (is_there) continue;
    Loss loss = plan->losses.front();
    loss.records = split.records();
    loss.reason = "it tells of split " + split.name() + ", of which no shard is there";
    plan->losses.push_back(std::move(loss));
  }
}

// Which set it is, and whether the manifest is that of it; leaves shards of other sets aside.
Status FindSet(std::vector<Peek>* peeks, SalvagePlan* plan) {
  std::vector<Digest> ids;
  for (const Peek& peek : *peeks) {
    if (peek.dataset_id) ids.push_back(*peek.dataset_id);
  }
  // A manifest in order says which set this is, however many foreign shards lie beside.
  std::optional<Digest> id;
  if (plan->manifest != nullptr) id = DigestFromHex(plan->manifest->dataset_id());
  if (!id || (!ids.empty() && std::find(ids.begin(), ids.end(), *id) == ids.end())) {
    if (const std::optional<Digest> most = MostFrequent(ids)) id = most;
  }
  if (!id) {
    return DataLossError(plan->folder + ": no shard says any more which data set it belongs to");
  }
  plan->dataset_id = *id;
  if (plan->manifest != nullptr && DigestFromHex(plan->manifest->dataset_id()) != id) {
    LoseManifest("the manifest is that of another data set", plan);
  }
  const auto is_foreign = [&](const Peek& peek) {
    return peek.dataset_id && *peek.dataset_id != *id;
  };
  for (const Peek& peek : *peeks) {
    if (!is_foreign(peek)) continue;
    plan->remarks.push_back(peek.path + " belongs to data set " + DigestToHex(*peek.dataset_id) +
                            "; left aside");
  }
  peeks->erase(std::remove_if(peeks->begin(), peeks->end(), is_foreign), peeks->end());
  if (plan->manifest != nullptr && KnowsNone(*plan->manifest, *peeks)) {
    LoseOtherPacking(*peeks, plan);
  }
  return OkStatus();
}

}  // namespace

std::string SalvageShard::FileName() const { return ShardFileName(split, number, count); }

SalvagePlan::SalvagePlan() = default;
SalvagePlan::~SalvagePlan() = default;
SalvagePlan::SalvagePlan(SalvagePlan&&) noexcept = default;
SalvagePlan& SalvagePlan::operator=(SalvagePlan&&) noexcept = default;

Result<SalvagePlan> MakeSalvagePlan(const std::string& folder, FileAccess access) {
  SalvagePlan plan;
  plan.folder = folder;
  ASSIGN_OR_RETURN(std::vector<Peek> peeks, PeekAtAll(folder, access, &plan.remarks));
  RETURN_IF_ERROR(TakeManifest(&plan));
  RETURN_IF_ERROR(FindSet(&peeks, &plan));
  RETURN_IF_ERROR(FindSchema(peeks, &plan));
  plan.shards = ShardsOf(plan.manifest.get(), peeks);
  // Those that say themselves what they are come first.
  std::stable_partition(peeks.begin(), peeks.end(),
                        [](const Peek& peek) { return peek.schema != nullptr; });
  for (const Peek& peek : peeks) PutInPlace(peek, &plan);
  return plan;
}

}  // namespace shardmill
