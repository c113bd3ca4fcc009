// The files of an unfinished data set in a folder: shards, what killed writers left, claims.
//
// Free functions without state. Every error names the path.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

enum class ShardFileKind {
  kShards,
  // Temporary files that a killed writer of shards, of the manifest, of the state or of the report
  // left behind, claims on shards and marks of ranks.
  kLeftovers,
};

// The names of such files in `folder`, sorted.
Result<std::vector<std::string>> ShardFileNames(const std::string& folder, ShardFileKind kind);

// The name of the file that a leftover was to become or was a claim on, or of the mark of a rank
// itself; empty: it is no leftover.
std::string FinalNameOf(const std::string& leftover);

// The name of the lock that a process holds while it makes a shard beside other processes.
std::string ClaimName(const std::string& shard_file);

bool FileExists(const std::string& path);  // or anything else of that name
Status RemoveFile(const std::string& path);
Status RemoveFiles(const std::string& folder, const std::vector<std::string>& names);
Status MoveFile(const std::string& from, const std::string& to);

}  // namespace shardmill
