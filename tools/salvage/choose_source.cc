#include "tools/salvage/choose_source.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "reader/base/file.h"
#include "tools/salvage/salvage_shard.h"

namespace shardmill {
namespace {

bool SaysSomething(const ShardReport& report) {
  return report.has_footer || report.has_superblock || SoundRecords(report) > 0;
}

// 2: it is the one that the manifest names, 1: it may be, 0: it is not.
int ManifestRank(const SalvageShard& shard, const ShardReport& report) {
  if (IsAnotherThanNamed(shard, report)) return 0;
  const bool has_nothing = report.records > 0 && SoundRecords(report) == 0;
  if (shard.digest && report.digest && !has_nothing) return 2;
  return SaysSomething(report) ? 1 : 0;
}

std::string WhyNot(const SalvageShard& shard, const ShardReport& best, const ShardReport& report) {
  const std::string refusal = WhyRefused(shard, report);
  if (!refusal.empty() && WhyRefused(shard, best).empty()) return refusal;
  if (IsAnotherThanNamed(shard, report) && !IsAnotherThanNamed(shard, best)) {
    return "it is not the one that the manifest names";
  }
  if (best.digest && report.digest && *best.digest != *report.digest) {
    return "it has other content, and the other has the right name";
  }
  return "of it " + std::to_string(SoundRecords(report)) +
         " records could be saved, of the other " + std::to_string(SoundRecords(best));
}

}  // namespace

std::string WhyRefused(const SalvageShard& shard, const ShardReport& report) {
  if (report.has_other_schema) {
    return "the shard has another schema or recipe than the rest of the set";
  }
  if (report.has_foreign_part) {
    return "the digest of the shard differs although all its parts are sound: one of its blocks "
           "may be that of another split or packing";
  }
  const bool is_the_named = shard.digest && report.digest && *report.digest == *shard.digest;
  if (report.schema_is_assumed && !is_the_named) {
    return "superblock and schema of the shard are lost, and nothing proves that its records are "
           "of the schema of the set";
  }
  return "";
}

Kinship KinshipOf(const ShardReport& a, const ShardReport& b) {
  if (a.digest && b.digest) return *a.digest == *b.digest ? Kinship::kSame : Kinship::kOther;
  std::map<uint32_t, uint64_t> sums;
  for (const BlockOutcome& block : a.blocks) {
    if (block.header_checksum) sums.emplace(block.number, *block.header_checksum);
  }
  bool any = false;
  for (const BlockOutcome& block : b.blocks) {
    const auto sum = sums.find(block.number);
    if (sum == sums.end() || !block.header_checksum) continue;
    if (sum->second != *block.header_checksum) return Kinship::kOther;
    any = true;
  }
  return any ? Kinship::kSame : Kinship::kUnknown;
}

int ChooseSource(const SalvageShard& shard, const std::vector<ShardReport*>& files) {
  if (files.empty()) return -1;
  const auto named = std::find_if(files.begin(), files.end(), [&](const ShardReport* report) {
    return FileName(report->path) == shard.FileName() && SaysSomething(*report) &&
           WhyRefused(shard, *report).empty();
  });
  const auto rank = [&](const ShardReport& report) {
    const bool is_named = named != files.end() && *named == &report;
    const bool is_like_named =
        is_named || (named != files.end() && KinshipOf(**named, report) != Kinship::kOther);
    return std::make_tuple(WhyRefused(shard, report).empty(), ManifestRank(shard, report),
                           is_like_named, SoundRecords(report), report.parts_are_sound,
                           report.has_footer + report.has_superblock, is_named);
  };
  size_t best = 0;
  for (size_t i = 1; i < files.size(); ++i) {
    if (rank(*files[i]) > rank(*files[best])) best = i;
  }
  return static_cast<int>(best);
}

void LeaveOthersAside(const SalvageShard& shard, const std::vector<ShardReport*>& files,
                      size_t best, const std::vector<size_t>& used,
                      std::vector<std::string>* remarks) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (i == best) continue;
    const bool is_used = std::find(used.begin(), used.end(), i) != used.end();
    remarks->push_back(files[i]->path + " says that it is the same shard as " + files[best]->path +
                       (is_used ? ", and is a copy of it; what was damaged in one was taken from "
                                  "the other where it was sound"
                                : "; left aside: " + WhyNot(shard, *files[best], *files[i])));
    files[i]->blocks.clear();
  }
}

}  // namespace shardmill
