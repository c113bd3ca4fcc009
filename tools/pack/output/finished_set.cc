#include "tools/pack/output/finished_set.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/file.h"
#include "reader/manifest.h"
#include "tools/pack/output/finished_shard.h"

namespace shardmill {
namespace {

// By file name; empty when the manifest is not that of the plan's data set.
std::map<std::string, std::string> DigestsOf(const PackPlan& plan, const std::string& folder) {
  std::map<std::string, std::string> digests;
  const Result<proto::Manifest> manifest = ReadManifest(folder);
  if (!manifest.ok() || manifest->dataset_id() != DigestToHex(plan.dataset_id)) return digests;
  for (const proto::Split& split : manifest->splits()) {
    for (const proto::ShardInfo& shard : split.shards()) digests[shard.file()] = shard.digest();
  }
  return digests;
}

bool HoldsAllShards(const PackPlan& plan, const PackOptions& options, const std::string& folder) {
  const std::map<std::string, std::string> digests = DigestsOf(plan, folder);
  const std::vector<PlannedShard> shards = plan.AllShards();
  return digests.size() == shards.size() &&
         std::all_of(shards.begin(), shards.end(), [&](const PlannedShard& shard) {
           const auto digest = digests.find(plan.FileNameOf(shard));
           if (digest == digests.end()) return false;
           const Result<FinishedShard> finished = ReadFinishedShard(plan, shard, folder);
           return finished.ok() && DigestToHex(finished->digest) == digest->second &&
                  KeepsTo(options.on_error, *finished);
         });
}

// Since 1970.
template <typename Time>
int64_t Nanoseconds(const Time& time) {
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

// Since when an input is what it is. The time of its content is not enough: another file that was
// copied or moved to its place may have an old one.
int64_t LastChange(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return std::numeric_limits<int64_t>::max();
  return std::max(Nanoseconds(info.st_mtim), Nanoseconds(info.st_ctim));
}

// When a shard was begun, where the file system knows that, else when it was finished: inputs may
// have changed while it was made.
int64_t TimeOfShard(const std::string& path) {
  struct statx info;
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_MTIME | STATX_BTIME, &info) != 0) {
    return std::numeric_limits<int64_t>::min();
  }
  const int64_t finished = Nanoseconds(info.stx_mtime);
  // A copy is begun later than what it is the copy of was finished.
  return (info.stx_mask & STATX_BTIME) != 0 ? std::min(finished, Nanoseconds(info.stx_btime))
                                            : finished;
}

// The key of an input that was changed after `time`; empty: there is none.
std::string FindYounger(const PackPlan& plan, const PlannedShard& shard, int64_t time) {
  const auto is_younger = [&](const SourceFile& file) {
    return !file.path.empty() && LastChange(JoinPath(plan.root, file.path)) > time;
  };
  const SplitPlan& split = plan.splits[shard.split];
  for (uint64_t i = split.ShardBegin(shard.number); i < split.ShardEnd(shard.number); ++i) {
    const Sample& sample = split.samples[i];
    if (is_younger(sample.image) || is_younger(sample.label)) return sample.key;
  }
  const std::vector<SourceFile>& files = plan.labels.parts_files;
  const auto file = std::find_if(files.begin(), files.end(), is_younger);
  return file == files.end() ? "" : file->path;
}

}  // namespace

FinishedSet FindFinishedSet(const PackPlan& plan, const PackOptions& options,
                            const std::string& folder) {
  FinishedSet set;
  // No set says with which limit it was packed.
  if (options.max_pixels != PackOptions().max_pixels) return set;
  if (!HoldsAllShards(plan, options, folder)) return set;
  for (const PlannedShard& shard : plan.AllShards()) {
    set.changed_key =
        FindYounger(plan, shard, TimeOfShard(JoinPath(folder, plan.FileNameOf(shard))));
    if (!set.changed_key.empty()) return set;
  }
  set.is_there = true;
  return set;
}

}  // namespace shardmill
