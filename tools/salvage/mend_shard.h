// Puts one shard together from several copies of it that are damaged in different places. Part of
// salvage.h.
//
// All copies once were the same bytes, so what a sum of one of them covers can be taken from any
// other where it has that sum: superblock, schema, footer and postscript, block headers, tables,
// metadata regions and single records.
#pragma once

#include <string>
#include <vector>

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/schema.h"
#include "reader/verify_shard.h"

namespace shardmill {

// Writes to `out` the first copy, mended as far as the others reach. What none of them has any more
// stays as it is in the first. The result is to be verified like any other file.
Status MendShard(const std::vector<const ShardReport*>& copies, const RecordSchema& schema,
                 FileAccess access, const std::string& out);

}  // namespace shardmill
