// Finds the footer of a shard whose postscript is lost. Part of verify.h.
#pragma once

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/shard_parts.h"

namespace shardmill {

// Searches backwards for a footer that is sound in itself and whose block table fits its place, so
// that bytes may have been added behind the shard. Fills footer and summary, and of the postscript
// what follows from them: offset, size and sum of the footer, records, size of the file. The
// superblock of `parts` is used when `has_superblock`. DataLoss when there is none; Io.
Status FindFooter(const InputFile& file, bool has_superblock, ShardParts* parts);

}  // namespace shardmill
