// Reads all that a shard lets itself be asked for, whatever comes of it.
#pragma once

#include "reader/shard_reader.h"

namespace shardmill {

// Goes on after an error: one record need not keep the others unread.
void ReadAll(const ShardReader& reader);

}  // namespace shardmill
