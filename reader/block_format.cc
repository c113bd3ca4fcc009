#include "reader/block_format.h"

#include <cstring>
#include <string_view>

#include "reader/base/little_endian.h"

namespace shardmill {
namespace {

constexpr std::string_view kBlockMagic("SMBLOCK1", 8);
// Keeps every sum of offsets far below 2^64.
constexpr uint64_t kLargestOffset = uint64_t{1} << 62;

// The fixed part; offsets and sizes are not checked yet.
BlockHeader DecodeFixedPart(const uint8_t* in) {
  BlockHeader header;
  header.checksum = LoadU64(in + kBlockChecksumOffset);
  std::memcpy(header.dataset_id.data(), in + 16, header.dataset_id.size());
  header.shard_number = LoadU32(in + 32);
  header.block_number = LoadU32(in + 36);
  header.first_record = LoadU64(in + 40);
  header.records = LoadU32(in + 48);
  header.header_bytes = LoadU64(in + 56);
  header.block_bytes = LoadU64(in + 64);
  header.meta_offset = LoadU64(in + 72);
  header.meta_bytes = LoadU64(in + 80);
  header.meta_checksum = LoadU64(in + 88);
  header.split_sum = LoadU64(in + 96);
  return header;
}

Status DecodeFieldEntries(const std::vector<uint8_t>& bytes, BlockHeader* header) {
  for (size_t f = 0; f < header->fields.size(); ++f) {
    const uint8_t* entry = bytes.data() + f * kFieldEntryBytes;
    header->fields[f].codec = LoadU32(entry);
    header->fields[f].offset = LoadU64(entry + 8);
    header->fields[f].bytes = LoadU64(entry + 16);
    header->fields[f].table_checksum = LoadU64(entry + 24);
    if (LoadU32(entry + 4) != 0) {
      return DataLossError("block header has a reserved number that is not zero");
    }
  }
  return OkStatus();
}

Status CheckLayout(const BlockHeader& header) {
  BlockHeader expected = header;
  for (const FieldRegion& region : header.fields) {
    if (region.bytes > kLargestOffset / kMaxFields / 2) {
      return DataLossError("block header says an impossibly large field region");
    }
  }
  if (header.meta_bytes > kLargestOffset / 2) {
    return DataLossError("block header says an impossibly large metadata region");
  }
  LayOutBlock(&expected);
  bool same = expected.header_bytes == header.header_bytes &&
              expected.block_bytes == header.block_bytes &&
              expected.meta_offset == header.meta_offset;
  for (size_t f = 0; f < header.fields.size(); ++f) {
    same = same && expected.fields[f].offset == header.fields[f].offset;
  }
  if (!same) return DataLossError("block header says regions that do not lie back to back");
  return OkStatus();
}

Status CheckRegion(const BlockHeader& header, const FieldRegion& region, const FieldSpec& spec) {
  if (region.codec != static_cast<uint32_t>(spec.codec)) {
    return DataLossError("block header: field " + spec.name + " has codec " +
                         std::to_string(region.codec) + ", the schema says " +
                         std::string(CodecName(spec.codec)));
  }
  if (spec.IsDense()) {
    uint64_t expected = 0;
    if (__builtin_mul_overflow(spec.TensorBytes(), uint64_t{header.records}, &expected) ||
        region.bytes != expected || region.table_checksum != 0) {
      return DataLossError("block header: field " + spec.name + " has " +
                           std::to_string(region.bytes) + " bytes for " +
                           std::to_string(header.records) + " records");
    }
  } else if (region.bytes <
             RegionTableBytes(header.records, static_cast<uint64_t>(spec.VariableDimCount()))) {
    return DataLossError("block header: field " + spec.name + " has no room for its offsets");
  }
  return OkStatus();
}

}  // namespace

uint64_t BlockHeader::UnpaddedHeaderBytes() const {
  return kBlockHeaderFixedBytes + fields.size() * (kFieldEntryBytes + 8 * uint64_t{records});
}

uint64_t BlockHeader::RecordChecksumOffset(uint32_t field, uint32_t record) const {
  return kBlockHeaderFixedBytes + fields.size() * kFieldEntryBytes +
         8 * (uint64_t{field} * records + record);
}

uint64_t RegionTableBytes(uint64_t records, uint64_t variable_dims) {
  const uint64_t bytes = 8 * (records + 1) + 4 * records * variable_dims;
  return (bytes + 7) / 8 * 8;
}

void LayOutBlock(BlockHeader* header) {
  header->header_bytes = PaddedBytes(header->UnpaddedHeaderBytes());
  uint64_t offset = header->header_bytes;
  for (FieldRegion& region : header->fields) {
    region.offset = offset;
    offset = PaddedBytes(offset + region.bytes);
  }
  header->meta_offset = offset;
  header->block_bytes = PaddedBytes(offset + header->meta_bytes);
}

std::string EncodeBlockHeader(const BlockHeader& header,
                              const std::vector<uint64_t>& record_checksums) {
  SHARDMILL_CHECK(record_checksums.size() == header.fields.size() * header.records);
  std::string bytes(header.header_bytes, '\0');
  uint8_t* out = reinterpret_cast<uint8_t*>(bytes.data());
  std::memcpy(out, kBlockMagic.data(), kBlockMagic.size());
  std::memcpy(out + 16, header.dataset_id.data(), header.dataset_id.size());
  StoreU32(header.shard_number, out + 32);
  StoreU32(header.block_number, out + 36);
  StoreU64(header.first_record, out + 40);
  StoreU32(header.records, out + 48);
  StoreU32(static_cast<uint32_t>(header.fields.size()), out + 52);
  StoreU64(header.header_bytes, out + 56);
  StoreU64(header.block_bytes, out + 64);
  StoreU64(header.meta_offset, out + 72);
  StoreU64(header.meta_bytes, out + 80);
  StoreU64(header.meta_checksum, out + 88);
  StoreU64(header.split_sum, out + 96);
  uint8_t* entry = out + kBlockHeaderFixedBytes;
  for (const FieldRegion& region : header.fields) {
    StoreU32(region.codec, entry);
    StoreU64(region.offset, entry + 8);
    StoreU64(region.bytes, entry + 16);
    StoreU64(region.table_checksum, entry + 24);
    entry += kFieldEntryBytes;
  }
  for (const uint64_t checksum : record_checksums) {
    StoreU64(checksum, entry);
    entry += 8;
  }
  StoreU64(Checksum64WithZeroedField(out, bytes.size(), kBlockChecksumOffset),
           out + kBlockChecksumOffset);
  return bytes;
}

Result<BlockHeader> ReadBlockHeader(const InputFile& file, uint64_t offset, uint64_t bytes_left) {
  uint8_t fixed[kBlockHeaderFixedBytes];
  if (bytes_left < kAlignment) return DataLossError("no room for a block header");
  RETURN_IF_ERROR(file.Read(offset, sizeof fixed, fixed));
  if (std::memcmp(fixed, kBlockMagic.data(), kBlockMagic.size()) != 0) {
    return DataLossError("block header does not start with its magic bytes");
  }
  BlockHeader header = DecodeFixedPart(fixed);
  // Nothing but these sizes is believed before the checksum has been compared.
  const uint32_t field_count = LoadU32(fixed + 52);
  if (field_count < 1 || field_count > kMaxFields || header.records == 0) {
    return DataLossError("block header is damaged: " + std::to_string(field_count) + " fields, " +
                         std::to_string(header.records) + " records");
  }
  header.fields.resize(field_count);
  if (header.header_bytes != PaddedBytes(header.UnpaddedHeaderBytes()) ||
      header.header_bytes > bytes_left) {
    return DataLossError("block header is damaged: it says a size of " +
                         std::to_string(header.header_bytes) + " bytes");
  }
  ASSIGN_OR_RETURN(const uint64_t checksum, file.Checksum64WithZeroedField(
                                                offset, header.header_bytes, kBlockChecksumOffset));
  if (checksum != header.checksum) {
    return DataLossError("block header is damaged: its checksum differs");
  }
  if (header.block_bytes > bytes_left) return DataLossError("block header says too many bytes");
  std::vector<uint8_t> entries(field_count * kFieldEntryBytes);
  RETURN_IF_ERROR(file.Read(offset + kBlockHeaderFixedBytes, entries.size(), entries.data()));
  RETURN_IF_ERROR(DecodeFieldEntries(entries, &header));
  for (size_t i = 104; i < kBlockHeaderFixedBytes; ++i) {
    if (fixed[i] != 0) return DataLossError("block header has reserved bytes that are not zero");
  }
  RETURN_IF_ERROR(CheckLayout(header));
  const uint64_t used = header.UnpaddedHeaderBytes();
  ASSIGN_OR_RETURN(const bool padding_is_zero,
                   file.IsZero(offset + used, header.header_bytes - used));
  if (!padding_is_zero) return DataLossError("block header has padding that is not zero");
  return header;
}

uint64_t SplitSum(std::string_view split) { return Checksum64(split.data(), split.size()); }

Status CheckBlockIdentity(const BlockHeader& header, const BlockIdentity& expected,
                          const BlockTableEntry& entry) {
  if (header.dataset_id != expected.dataset_id || header.shard_number != expected.shard_number ||
      header.block_number != expected.block_number) {
    return DataLossError("the block belongs elsewhere: it is block " +
                         std::to_string(header.block_number) + " of shard " +
                         std::to_string(header.shard_number) + " of data set " +
                         DigestToHex(header.dataset_id));
  }
  if (expected.split_sum && header.split_sum != *expected.split_sum) {
    return DataLossError("the block belongs elsewhere: it is block " +
                         std::to_string(header.block_number) + " of a shard of another split");
  }
  if (header.block_bytes != entry.bytes || header.first_record != entry.first_record ||
      header.records != entry.records) {
    return DataLossError("block header and block table disagree");
  }
  return OkStatus();
}

Status CheckBlockHeader(const BlockHeader& header, const RecordSchema& schema) {
  if (header.fields.size() != schema.fields.size()) {
    return DataLossError("block header has " + std::to_string(header.fields.size()) +
                         " fields, the schema has " + std::to_string(schema.fields.size()));
  }
  for (size_t f = 0; f < schema.fields.size(); ++f) {
    RETURN_IF_ERROR(CheckRegion(header, header.fields[f], schema.fields[f]));
  }
  if (header.meta_bytes < MetaTableBytes(header.records)) {
    return DataLossError("block header: the metadata region has no room for its offsets");
  }
  return OkStatus();
}

Result<FileRange> ReadHeapRange(const InputFile& file, const HeapRegion& heap, uint32_t record) {
  uint8_t offsets[16];
  RETURN_IF_ERROR(file.Read(heap.region.offset + 8 * uint64_t{record}, sizeof offsets, offsets));
  const uint64_t begin = LoadU64(offsets);
  const uint64_t end = LoadU64(offsets + 8);
  if (begin > end || end > heap.region.bytes - heap.table_bytes) {
    return DataLossError("offsets " + std::to_string(begin) + " to " + std::to_string(end) +
                         " leave the region");
  }
  return FileRange{heap.region.offset + heap.table_bytes + begin, end - begin};
}

}  // namespace shardmill
