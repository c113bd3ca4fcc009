#include "reader/block_records.h"

#include <string>
#include <utility>

#include "reader/base/checksum.h"
#include "reader/base/little_endian.h"

namespace shardmill {
namespace {

// A range in the file, which may have holes: larger than any memory, and still no error.
constexpr uint64_t kMaxStoredBytes = uint64_t{1} << 34;

Result<std::string> ReadRange(const InputFile& file, const FileRange& range) {
  if (range.bytes > kMaxStoredBytes) return DataLossError("a record is impossibly large");
  RETURN_IF_ERROR(file.CheckRange(range.offset, range.bytes));
  std::string bytes(range.bytes, '\0');
  RETURN_IF_ERROR(file.Read(range.offset, range.bytes, bytes.data()));
  return bytes;
}

}  // namespace

Result<BlockRecords> BlockRecords::Open(const InputFile* file, const RecordSchema* schema,
                                        const BlockTableEntry& entry) {
  ASSIGN_OR_RETURN(BlockHeader header, ReadBlockHeader(*file, entry.offset, entry.bytes));
  RETURN_IF_ERROR(CheckBlockHeader(header, *schema));
  return BlockRecords(file, schema, entry.offset, std::move(header));
}

Result<FileRange> BlockRecords::StoredRange(uint32_t field, uint32_t index) const {
  const FieldSpec& spec = schema_->fields[field];
  const FieldRegion& region = header_.fields[field];
  if (spec.IsDense()) {
    const uint64_t bytes = spec.TensorBytes();
    return FileRange{offset_ + region.offset + index * bytes, bytes};
  }
  const uint64_t table_bytes =
      RegionTableBytes(header_.records, static_cast<uint64_t>(spec.VariableDimCount()));
  return ReadHeapRange(*file_, {{offset_ + region.offset, region.bytes}, table_bytes}, index);
}

Result<EncodedField> BlockRecords::ReadField(uint32_t field, uint32_t index) const {
  EncodedField encoded;
  ASSIGN_OR_RETURN(const FileRange range, StoredRange(field, index));
  ASSIGN_OR_RETURN(encoded.bytes, ReadRange(*file_, range));
  uint8_t expected[8];
  RETURN_IF_ERROR(
      file_->Read(offset_ + header_.RecordChecksumOffset(field, index), sizeof expected, expected));
  encoded.checksum = Checksum64(encoded.bytes.data(), encoded.bytes.size());
  if (encoded.checksum != LoadU64(expected)) {
    return DataLossError("the stored bytes are damaged: their checksum differs");
  }
  const size_t dims = static_cast<size_t>(schema_->fields[field].VariableDimCount());
  if (dims == 0) return encoded;
  uint8_t bytes[4 * kMaxRank];
  RETURN_IF_ERROR(file_->Read(
      offset_ + header_.fields[field].offset + VariableDimsOffset(header_.records, dims, index),
      4 * dims, bytes));
  for (size_t i = 0; i < dims; ++i) encoded.variable_dims.push_back(LoadU32(bytes + 4 * i));
  return encoded;
}

Result<std::string> BlockRecords::ReadMeta(uint32_t index) const {
  const HeapRegion heap = {{offset_ + header_.meta_offset, header_.meta_bytes},
                           MetaTableBytes(header_.records)};
  ASSIGN_OR_RETURN(const FileRange range, ReadHeapRange(*file_, heap, index));
  if (range.bytes > kMaxMetaBytes) return DataLossError("the metadata is impossibly large");
  return ReadRange(*file_, range);
}

Result<EncodedRecord> BlockRecords::Read(uint32_t index) const {
  EncodedRecord record;
  for (uint32_t field = 0; field < header_.fields.size(); ++field) {
    Result<EncodedField> encoded = ReadField(field, index);
    if (!encoded.ok()) {
      return encoded.status().WithContext("field " + schema_->fields[field].name);
    }
    record.fields.push_back(std::move(encoded).value());
  }
  ASSIGN_OR_RETURN(record.meta, ReadMeta(index));
  return record;
}

}  // namespace shardmill
