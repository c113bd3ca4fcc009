// One piece of damage that verification found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace shardmill {

struct Finding {
  std::string file;                // path of the shard or the manifest
  std::optional<uint32_t> block;   // in the shard
  std::optional<uint64_t> record;  // in the shard
  std::string field;               // empty: not about one field
  std::string key;                 // of the record, where it could be read
  std::string message;
  bool needs_newer_reader = false;  // no damage: this build cannot tell
};

// "set/train-00000-of-00004.shard: block 3: record 17 (seq/0001.png): field label: …"
std::string FindingToString(const Finding& finding);

}  // namespace shardmill
