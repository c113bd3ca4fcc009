#include "reader/named_shards.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "proto/manifest.pb.h"
#include "reader/manifest.h"
#include "reader/names.h"

namespace shardmill {

bool NamesNoneOfTheShards(const std::string& folder, const proto::Manifest& manifest) {
  std::set<std::string> named;
  for (const proto::Split& split : manifest.splits()) {
    for (const proto::ShardInfo& shard : split.shards()) named.insert(shard.file());
  }
  bool any = false;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!ParseShardFileName(name)) continue;
    if (named.count(name) > 0) return false;
    any = true;
  }
  return any;
}

Status ExplainByReplacement(const std::string& folder, const proto::Manifest& manifest,
                            const Status& status) {
  if (status.ok()) return status;
  const Result<proto::Manifest> now = ReadManifest(folder);
  if (now.ok() && now->digest() != manifest.digest()) {
    return IoError(folder +
                   ": another data set took the place of this one while it was being read; read "
                   "it again");
  }
  return now.status().code() == StatusCode::kNotFound ? now.status() : status;
}

}  // namespace shardmill
