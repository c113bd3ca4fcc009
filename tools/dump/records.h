// `shardmill dump records`: a table of records with their sources and stored sizes.
//
// Free functions; safe for concurrent use.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"
#include "tools/dump/shard_set.h"

namespace shardmill {

// Records [first, end) of a split; requires first <= end <= split.records.
Result<std::string> RecordsText(const ShardSet& set, const ShardSet::Split& split, uint64_t first,
                                uint64_t end, bool colored);
Result<std::string> RecordsJson(const ShardSet& set, const ShardSet::Split& split, uint64_t first,
                                uint64_t end);

// The number of the record with this key; NotFound when the split has none. Looks at one record
// after the other.
Result<uint64_t> FindRecordByKey(const ShardSet::Split& split, const std::string& key);

}  // namespace shardmill
