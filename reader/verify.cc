#include "reader/verify.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/file.h"
#include "reader/duplicate_keys.h"
#include "reader/manifest.h"
#include "reader/named_shards.h"
#include "reader/names.h"
#include "reader/serialize.h"
#include "reader/statistics.h"
#include "reader/unfinished_pack.h"
#include "reader/verify_run.h"
#include "reader/verify_shard.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

Finding FindingAbout(const std::string& file, const std::string& message) {
  Finding finding;
  finding.file = file;
  finding.message = message;
  return finding;
}

// What is to be verified.
struct Plan {
  std::string manifest_path;                // empty: a single shard
  std::optional<proto::Manifest> manifest;  // when it is sound
  std::vector<std::string> shards;          // in manifest order; then those it does not name
  size_t named_shards = 0;                  // how many of them the manifest names
};

Result<std::vector<std::string>> ShardFilesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (ParseShardFileName(name)) names.push_back(name);
  }
  if (error) return IoError("cannot list " + folder + ": " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

Result<Plan> PlanFolder(const std::string& folder, std::vector<Finding>* findings) {
  Plan plan;
  plan.manifest_path = JoinPath(folder, std::string(kManifestFileName));
  ASSIGN_OR_RETURN(std::vector<std::string> names, ShardFilesIn(folder));
  Result<proto::Manifest> manifest = ReadManifest(folder);
  if (!manifest.ok()) {
    if (names.empty()) return manifest.status();
    if (manifest.status().code() == StatusCode::kIo) return manifest.status();
    const bool is_missing = manifest.status().code() == StatusCode::kNotFound;
    if (is_missing && FindUnfinishedPack(folder).is_at_work) return manifest.status();
    findings->push_back(FindingAbout(plan.manifest_path, manifest.status().message()));
    findings->back().needs_newer_reader = manifest.status().code() == StatusCode::kInvalidArgument;
  } else {
    plan.manifest = std::move(manifest).value();
    for (const proto::Split& split : plan.manifest->splits()) {
      for (const proto::ShardInfo& shard : split.shards()) plan.shards.push_back(shard.file());
    }
  }
  plan.named_shards = plan.shards.size();
  std::vector<std::string> named = plan.shards;
  std::sort(named.begin(), named.end());
  for (const std::string& name : names) {
    if (!std::binary_search(named.begin(), named.end(), name)) plan.shards.push_back(name);
  }
  for (std::string& shard : plan.shards) shard = JoinPath(folder, shard);
  return plan;
}

Result<Plan> MakePlan(const std::string& path, std::vector<Finding>* findings) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return PlanFolder(path, findings);
  if (FileName(path) == kManifestFileName) return PlanFolder(FolderName(path), findings);
  if (!fs::exists(status)) return NotFoundError(path + " does not exist");
  if (!fs::is_regular_file(status)) {
    return InvalidArgumentError(path + " is neither the folder of a packed data set nor a file");
  }
  Plan plan;
  plan.shards.push_back(path);
  return plan;
}

Status CompareShard(const ShardReport& report, const proto::Manifest& manifest,
                    const proto::Split& split, int number) {
  RETURN_IF_ERROR(CheckNamedShard(report.path));
  if (!report.parts_are_sound) return OkStatus();  // its damage is listed already
  const ShardParts& parts = *report.parts;
  const ShardFacts facts = {parts.superblock.dataset_id,  parts.superblock.shard_number,
                            parts.superblock.shard_count, parts.postscript.record_count,
                            parts.postscript.file_bytes,  parts.postscript.digest,
                            parts.schema_message.get()};
  return CheckAgainstManifest(facts, manifest, split, number);
}

// Without a manifest, what a shard says that it is must be what its name says; a file that is not
// named like a shard may be called anything.
void CompareWithNames(std::vector<ShardReport>* reports) {
  for (ShardReport& report : *reports) {
    const std::optional<ShardName> name = ParseShardFileName(FileName(report.path));
    if (!name || !report.has_superblock || !report.has_schema) continue;
    const Superblock& superblock = report.parts->superblock;
    const std::string said = ShardFileName(report.parts->schema_message->split(),
                                           superblock.shard_number, superblock.shard_count);
    if (said == FileName(report.path)) continue;
    report.findings.push_back(
        FindingAbout(report.path, "the shard says that it is " + said + ": was it renamed?"));
  }
}

// The statistics and skipped inputs of a split are those of its shards together.
Status CompareSummaries(const std::vector<ShardReport>& reports, size_t first,
                        const proto::Split& split) {
  proto::Split expected;
  for (int k = 0; k < split.shards_size(); ++k) {
    const ShardReport& report = reports[first + static_cast<size_t>(k)];
    if (!report.parts_are_sound) return OkStatus();
    AddStatistics(report.parts->summary->statistics(), expected.mutable_statistics());
    expected.mutable_skipped()->MergeFrom(report.parts->summary->skipped());
  }
  proto::Split found;
  *found.mutable_statistics() = split.statistics();
  *found.mutable_skipped() = split.skipped();
  if (SerializeDeterministic(found) != SerializeDeterministic(expected)) {
    return DataLossError("split " + split.name() +
                         ": statistics or skipped inputs are not those of the shards");
  }
  return OkStatus();
}

void CompareWithManifest(const Plan& plan, std::vector<ShardReport>* reports,
                         std::vector<Finding>* findings) {
  if (!plan.manifest) return;
  if (NamesNoneOfTheShards(FolderName(plan.manifest_path), *plan.manifest)) {
    findings->push_back(FindingAbout(plan.manifest_path, std::string(kNamesNone)));
  }
  size_t index = 0;
  for (const proto::Split& split : plan.manifest->splits()) {
    const size_t first = index;
    for (int k = 0; k < split.shards_size(); ++k, ++index) {
      ShardReport& report = (*reports)[index];
      const Status status = CompareShard(report, *plan.manifest, split, k);
      if (status.ok()) continue;
      // What the manifest makes of a file that is none says more than why it could not be opened.
      if (!report.opened) report.findings.clear();
      report.findings.push_back(FindingAbout(report.path, status.message()));
    }
    const Status status = CompareSummaries(*reports, first, split);
    if (!status.ok()) findings->push_back(FindingAbout(plan.manifest_path, status.message()));
  }
  for (; index < reports->size(); ++index) {
    ShardReport& report = (*reports)[index];
    if (!report.opened) report.findings.clear();
    report.findings.push_back(
        FindingAbout(report.path, "the manifest does not name this shard; is it left over?"));
  }
}

}  // namespace

bool VerifyReport::needs_newer_reader() const {
  return !sound() && std::all_of(findings.begin(), findings.end(),
                                 [](const Finding& finding) { return finding.needs_newer_reader; });
}

Result<VerifyReport> Verify(const std::string& path, const VerifyOptions& options) {
  VerifyReport report;
  ASSIGN_OR_RETURN(const Plan plan, MakePlan(path, &report.findings));
  std::optional<RecordSchema> schema;
  proto::ShardSchema schema_message;
  ShardFallback fallback;
  if (plan.manifest) {
    ASSIGN_OR_RETURN(schema, CheckManifest(*plan.manifest));
    schema_message = ShardSchemaOf(*plan.manifest, plan.manifest->splits(0).name());
    fallback = {&*schema, DigestFromHex(plan.manifest->dataset_id()), &schema_message};
  }
  HashRange range(0, options.max_keys_in_memory);
  ASSIGN_OR_RETURN(VerifyRun run, RunVerification(plan.shards, fallback, options, &range));
  CompareWithManifest(plan, &run.shards, &report.findings);
  if (!plan.manifest) CompareWithNames(&run.shards);
  ASSIGN_OR_RETURN(const std::vector<DuplicateKey> duplicates,
                   FindDuplicateKeys(run.shards, options, std::move(run.keys)));
  for (const DuplicateKey& duplicate : duplicates) {
    run.shards[duplicate.place.shard].findings.push_back(
        DuplicateKeyFinding(duplicate, run.shards));
  }
  for (ShardReport& shard : run.shards) {
    ++report.shards;
    report.blocks += shard.blocks.size();
    report.records += shard.records;
    report.bytes += shard.bytes;
    std::move(shard.findings.begin(), shard.findings.end(), std::back_inserter(report.findings));
  }
  if (plan.manifest && !report.sound()) {
    const Status status =
        ExplainByReplacement(FolderName(plan.manifest_path), *plan.manifest, DataLossError(""));
    if (status.code() != StatusCode::kDataLoss) return status;
  }
  return report;
}

}  // namespace shardmill
