// Finds the blocks of a shard whose block table is lost, by their headers. Part of verify.h.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/block_format.h"

namespace shardmill {

struct BlockSearch {
  BlockIdentity identity;          // of the shard; its block number means nothing
  uint32_t records_per_block = 0;  // 0: not known
  uint64_t begin = 0;              // where the first block lies, as far as it is known
  uint64_t end = 0;
};

struct FoundBlocks {
  std::vector<BlockTableEntry> blocks;
  std::vector<uint32_t> numbers;  // ascending; they have gaps where blocks could not be found
  uint64_t missed_bytes = 0;      // that belong to none of them
  Status failure;                 // the first Io error, if there was one
};

// Each block begins at a multiple of 4096, and says where it ends, what it belongs to and which
// number it has. Of those that are not in the order of their numbers, the ones that lie where the
// blocks before them end stay, then as many others as can: one block in a wrong place costs no
// other.
FoundBlocks FindBlocksByHeaders(const InputFile& file, const BlockSearch& search);

}  // namespace shardmill
