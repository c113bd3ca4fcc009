#include "reader/read_ahead.h"

#include <sys/mman.h>

namespace shardmill {

void AdviseRandomReads(const Dataset::Split& split) {
  for (int number = 0; number < split.shard_count(); ++number) {
    const InputFile& file = split.shard(number).file();
    if (file.data() == nullptr) continue;
    ::madvise(const_cast<uint8_t*>(file.data()), file.size(), MADV_RANDOM);
  }
}

void AskForBlockHeaders(const Dataset::Split& split) {
  constexpr uint64_t kHeaderBytes = 16 * 1024;  // of all but blocks of tiny records
  constexpr uint32_t kMostBlocks = 4096;
  uint32_t asked = 0;
  for (int number = 0; number < split.shard_count(); ++number) {
    const ShardReader& shard = split.shard(number);
    for (uint32_t block = 0; block < shard.block_count() && asked < kMostBlocks; ++block, ++asked) {
      shard.file().WillNeed(shard.block(block).offset, kHeaderBytes);
    }
  }
}

}  // namespace shardmill
