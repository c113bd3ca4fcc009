#include "tools/salvage/mend_copies.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "reader/base/file.h"
#include "tools/salvage/choose_source.h"
#include "tools/salvage/mend_shard.h"
#include "tools/salvage/salvage_shard.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

// Of which of two files more can be saved.
auto Worth(const ShardReport& report) {
  return std::make_tuple(SoundRecords(report),
                         report.has_superblock + report.has_schema + report.has_footer,
                         report.parts_are_sound);
}

void ReplaceAll(const std::string& from, const std::string& to, std::string* text) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size()) {
    text->replace(at, from.size(), to);
  }
}

Status RemoveFile(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  return error ? ErrnoError("cannot remove " + path, error.value()) : OkStatus();
}

}  // namespace

Result<std::optional<MendedShard>> MendedCopies::Mend(const SalvageShard& shard,
                                                      const std::vector<ShardReport*>& files,
                                                      size_t best, const RecordSchema& schema,
                                                      FileAccess access,
                                                      const VerifyFiles& verify) {
  const ShardReport& first = *files[best];
  if (first.findings.empty() || !first.opened || first.has_other_schema) {
    return std::optional<MendedShard>();
  }
  std::vector<size_t> copies, possible;
  for (size_t i = 0; i < files.size(); ++i) {
    if (i == best || !files[i]->opened) continue;
    if (files[i]->has_foreign_part || files[i]->has_other_schema) continue;
    const Kinship kinship = KinshipOf(first, *files[i]);
    if (kinship == Kinship::kSame) copies.push_back(i);
    if (kinship != Kinship::kOther) possible.push_back(i);
  }
  const Attempt attempt = {&shard, &files, best, &schema, access, &verify};
  if (possible.size() > copies.size()) {
    ASSIGN_OR_RETURN(std::optional<MendedShard> mended, MendWith(attempt, possible, true));
    if (mended) return mended;
  }
  if (copies.empty()) return std::optional<MendedShard>();
  return MendWith(attempt, copies, false);
}

Result<std::optional<MendedShard>> MendedCopies::MendWith(const Attempt& attempt,
                                                          const std::vector<size_t>& others,
                                                          bool must_prove) {
  const ShardReport& best = *(*attempt.files)[attempt.best];
  std::vector<const ShardReport*> copies = {&best};
  for (const size_t i : others) copies.push_back((*attempt.files)[i]);
  std::error_code error;
  fs::create_directory(folder_, error);
  if (error) return ErrnoError("cannot make folder " + folder_, error.value());
  const std::string path = JoinPath(folder_, attempt.shard->FileName());
  originals_[path] = best.path;
  RETURN_IF_ERROR(MendShard(copies, *attempt.schema, attempt.access, path));
  ASSIGN_OR_RETURN(VerifyRun run, (*attempt.verify)({path}));
  ShardReport& report = run.shards.front();
  const SalvageShard& shard = *attempt.shard;
  const bool is_taken = Worth(report) > Worth(best) && WhyRefused(shard, report).empty() &&
                        !IsAnotherThanNamed(shard, report) &&
                        (!must_prove || IsProven(shard, report));
  if (!is_taken) {
    RETURN_IF_ERROR(RemoveFile(path));
    return std::optional<MendedShard>();
  }
  MendedShard mended;
  mended.report = std::move(report);
  mended.keys = std::move(run.keys);
  mended.used = others;
  return std::optional<MendedShard>(std::move(mended));
}

std::string MendedCopies::NameOriginals(std::string text) const {
  for (const auto& [path, original] : originals_) ReplaceAll(path, original, &text);
  return text;
}

void MendedCopies::NameOriginals(std::vector<Loss>* losses) const {
  for (Loss& loss : *losses) {
    loss.file = NameOriginals(std::move(loss.file));
    loss.reason = NameOriginals(std::move(loss.reason));
  }
}

Status MendedCopies::Remove() const {
  std::error_code error;
  fs::remove_all(folder_, error);
  return error ? ErrnoError("cannot remove " + folder_, error.value()) : OkStatus();
}

}  // namespace shardmill
