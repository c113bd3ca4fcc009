// Walks the metadata of one block of a shard: the keys of its records, in order.
//
// One object is for one thread; its memory is reused from block to block and does not depend on
// what the block says of itself. Not for use outside reader/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/block_format.h"

namespace shardmill {

// Reads offsets [first, first + count] of the table at `table_offset`, and checks that they
// ascend, lie in a heap of `heap_bytes`, and begin and end with it where the table does.
Status ReadBounds(const InputFile& file, uint64_t table_offset, uint32_t records,
                  uint64_t heap_bytes, uint32_t first, uint32_t count,
                  std::vector<uint64_t>* bounds);

// Records that are looked at together: enough that what is done once for all does not matter, few
// enough that their offsets and checksums stay in the processor's cache.
constexpr uint32_t kWindowRecords = 2048;

class MetaWalker {
 public:
  // Records from `first` on, in order, without gaps. An empty key: the metadata is malformed.
  using Take = std::function<void(uint32_t first, const std::vector<std::string_view>& keys)>;

  // Checks the sum of the region, then walks it. DataLoss: the region is damaged as a whole.
  Status Walk(const InputFile& file, uint64_t block_offset, const BlockHeader& header,
              const Take& take);

  // The key of one record, or an empty one. Requires a region that Walk() found sound.
  std::string KeyOf(const InputFile& file, uint64_t block_offset, const BlockHeader& header,
                    uint32_t record);

 private:
  Status TakeWindow(const InputFile& file, uint64_t heap_offset, uint32_t first, const Take& take);
  void ScanWindow(size_t begin, size_t end);

  std::vector<uint64_t> bounds_;
  std::vector<uint8_t> heap_;
  std::vector<std::string_view> keys_;
  std::vector<std::string> storage_;  // of keys that protobuf had to parse
};

}  // namespace shardmill
