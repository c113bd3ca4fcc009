// The blocks of a shard file, as proto/FORMAT.md lays them out.
//
// A block is a header (with one checksum per record and field), one region per field and one
// region of metadata, each at a multiple of 4096 and back to back. So the sizes alone give all
// offsets. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/schema.h"
#include "reader/shard_format.h"

namespace shardmill {

constexpr uint64_t kBlockHeaderFixedBytes = 128;
constexpr uint64_t kFieldEntryBytes = 32;
constexpr uint64_t kBlockChecksumOffset = 8;
// A record's metadata is a key of at most 4 KiB and a dozen numbers; newer versions may add to it.
constexpr uint64_t kMaxMetaBytes = uint64_t{1} << 20;

struct FieldRegion {
  uint32_t codec = 0;
  uint64_t offset = 0;          // from the start of the block
  uint64_t bytes = 0;           // unpadded
  uint64_t table_checksum = 0;  // of offsets and dimensions; 0 when the region is dense
};

struct BlockHeader {
  uint64_t checksum = 0;  // filled in by ReadBlockHeader
  Digest dataset_id = {};
  uint32_t shard_number = 0;
  uint32_t block_number = 0;
  uint64_t first_record = 0;  // from the start of the shard
  uint32_t records = 0;
  uint64_t header_bytes = 0;  // padded
  uint64_t block_bytes = 0;
  uint64_t meta_offset = 0;
  uint64_t meta_bytes = 0;  // unpadded
  uint64_t meta_checksum = 0;
  uint64_t split_sum = 0;  // SplitSum() of the shard's split
  std::vector<FieldRegion> fields;

  uint64_t UnpaddedHeaderBytes() const;
  // Where the checksum of a record's stored bytes lies, from the start of the block.
  uint64_t RecordChecksumOffset(uint32_t field, uint32_t record) const;
};

// Bytes before the heap of a region that is not dense: u64 offsets[records + 1], then
// u32 dims[records][variable_dims], padded to a multiple of 8.
uint64_t RegionTableBytes(uint64_t records, uint64_t variable_dims);
// Where the dimensions of a record lie in that table.
inline uint64_t VariableDimsOffset(uint64_t records, uint64_t variable_dims, uint64_t record) {
  return 8 * (records + 1) + 4 * variable_dims * record;
}
// RegionTableBytes of the metadata region, which has no dimensions.
inline uint64_t MetaTableBytes(uint64_t records) { return RegionTableBytes(records, 0); }

// Fills in header_bytes, all offsets and block_bytes from `records` and the regions' sizes.
void LayOutBlock(BlockHeader* header);

// The padded header. `record_checksums` is field-major: [fields][records].
std::string EncodeBlockHeader(const BlockHeader& header,
                              const std::vector<uint64_t>& record_checksums);

// Reads the header of the block at `offset`, checks its checksum, and that its regions lie where
// LayOutBlock puts them and inside [offset, offset + bytes_left).
Result<BlockHeader> ReadBlockHeader(const InputFile& file, uint64_t offset, uint64_t bytes_left);

// What a block header says of its split: two splits may have shards of the same number.
uint64_t SplitSum(std::string_view split);

// Which block a header must belong to.
struct BlockIdentity {
  Digest dataset_id = {};
  uint32_t shard_number = 0;
  uint32_t block_number = 0;
  std::optional<uint64_t> split_sum;  // nothing: the split is not known
};
// DataLoss unless the header belongs there and agrees with its entry in the block table.
Status CheckBlockIdentity(const BlockHeader& header, const BlockIdentity& expected,
                          const BlockTableEntry& entry);

// DataLoss unless codecs and sizes of the regions are possible for this schema.
Status CheckBlockHeader(const BlockHeader& header, const RecordSchema& schema);

// A region with offsets: `region.offset` is its place in the file, and its heap begins
// `table_bytes` behind that.
struct HeapRegion {
  FileRange region;
  uint64_t table_bytes = 0;
};

// One record's part of the heap, by the offsets in the file; DataLoss when they leave the region.
Result<FileRange> ReadHeapRange(const InputFile& file, const HeapRegion& heap, uint32_t record);

}  // namespace shardmill
