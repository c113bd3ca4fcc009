// Names that go on disk: splits, fields, shard files and record keys. Rules in proto/FORMAT.md.
//
// Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shardmill {

// A split or a field: 1 to 64 of A-Z a-z 0-9 _ . -, the first a letter or a digit. So it can be
// part of a file name anywhere.
bool IsPlainName(std::string_view name);

// Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsValidUtf8(std::string_view text);

// Non-empty UTF-8 of at most kMaxKeyBytes without control characters.
constexpr uint64_t kMaxKeyBytes = 4096;
bool IsRecordKey(std::string_view key);

// Lies beside the shards of a set that is not complete yet.
inline constexpr char kPackStateName[] = ".pack-state";
// A folder below that of a data set: a set that is to take its place grows there. A manifest in it
// says that the new set is complete and has begun to do so.
inline constexpr char kIncomingName[] = ".shardmill-incoming";

constexpr uint32_t kMaxShards = 10000;  // of one split

// "train-00002-of-00004.shard"
std::string ShardFileName(const std::string& split, uint32_t shard_number, uint32_t shard_count);

struct ShardName {
  std::string split;
  uint32_t number = 0;
  uint32_t count = 0;
};
// The reverse; nullopt unless the name is exactly what ShardFileName makes.
std::optional<ShardName> ParseShardFileName(std::string_view name);

}  // namespace shardmill
