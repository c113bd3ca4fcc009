// The fixed structures of a shard file, as proto/FORMAT.md lays them out: superblock, footer and
// postscript. block_format.h has the blocks.
//
// Encode functions give the padded bytes with the checksum filled in. Decode functions take a
// private copy of the bytes, check everything that can be checked without the rest of the file,
// and name what is wrong: DataLoss for damage, InvalidArgument for a file that needs a newer
// reader. The caller adds the path. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/status.h"

namespace shardmill {

constexpr uint32_t kFormatVersion = 1;
constexpr uint64_t kAlignment = 4096;
constexpr uint64_t kSuperblockBytes = 4096;
constexpr uint64_t kPostscriptBytes = 4096;
constexpr uint64_t kSchemaOffset = kSuperblockBytes;
constexpr uint64_t kFooterFixedBytes = 64;
constexpr uint64_t kBlockTableEntryBytes = 32;
// Caps on what is copied into memory at once when a shard is opened.
constexpr uint64_t kMaxSchemaBytes = uint64_t{16} << 20;
constexpr uint64_t kMaxFooterBytes = uint64_t{1} << 30;
// Superblock, one page of schema, one of footer, postscript.
constexpr uint64_t kSmallestShardBytes = 4 * 4096;

constexpr std::string_view kFooterMagic("SMFOOTER", 8);

// Where the checksum lies in each structure, which is taken as zero when it is computed.
constexpr uint64_t kSuperblockChecksumOffset = 16;
constexpr uint64_t kFooterChecksumOffset = 8;
constexpr uint64_t kPostscriptChecksumOffset = 8;

// `bytes` rounded up to a multiple of 4096; requires bytes < 2^63.
constexpr uint64_t PaddedBytes(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct Superblock {
  uint64_t checksum = 0;  // filled in by Decode
  uint64_t compat_flags = 0;
  uint64_t incompat_flags = 0;
  Digest dataset_id = {};
  uint32_t shard_number = 0;
  uint32_t shard_count = 1;
  uint32_t field_count = 0;
  uint32_t records_per_block = 0;
  uint64_t first_input = 0;
  uint64_t end_input = 0;
  uint64_t schema_bytes = 0;     // unpadded
  uint64_t schema_checksum = 0;  // of the padded schema
  uint64_t first_block_offset() const { return kSchemaOffset + PaddedBytes(schema_bytes); }
};

std::string EncodeSuperblock(const Superblock& superblock);
Result<Superblock> DecodeSuperblock(std::string_view bytes);

struct BlockTableEntry {
  uint64_t offset = 0;  // of the block in the file
  uint64_t bytes = 0;
  uint64_t first_record = 0;  // from the start of the shard
  uint32_t records = 0;
};

struct Footer {
  uint64_t checksum = 0;  // filled in by Decode
  uint64_t record_count = 0;
  std::vector<BlockTableEntry> blocks;
  std::string summary;  // serialised proto::ShardSummary
};

std::string EncodeFooter(const Footer& footer);
Result<Footer> DecodeFooter(std::string_view bytes);

// DataLoss unless the blocks lie back to back from `first_block_offset` to `footer_offset`, their
// records are numbered without gaps, and all but the last hold exactly `records_per_block`.
Status CheckBlockTable(const Footer& footer, uint64_t first_block_offset, uint64_t footer_offset,
                       uint32_t records_per_block);

struct Postscript {
  uint64_t checksum = 0;  // filled in by Decode
  Digest dataset_id = {};
  uint32_t shard_number = 0;
  uint32_t shard_count = 1;
  uint64_t footer_offset = 0;
  uint64_t footer_bytes = 0;  // padded
  uint64_t footer_checksum = 0;
  uint64_t record_count = 0;
  uint64_t file_bytes = 0;
  Digest digest = {};
};

std::string EncodePostscript(const Postscript& postscript);
// `file_bytes` is the real size of the file, which the postscript must agree with.
Result<Postscript> DecodePostscript(std::string_view bytes, uint64_t file_bytes);

// The digest of a shard: XXH3-128 of the checksums of its parts, in file order.
class ShardDigest {
 public:
  ShardDigest(uint64_t superblock_checksum, uint64_t schema_checksum);
  void AddBlock(uint64_t header_checksum) { Add(header_checksum); }
  Digest Finish(uint64_t footer_checksum);

 private:
  void Add(uint64_t checksum);
  DigestStream stream_;
};

}  // namespace shardmill
