#include "reader/block_builder.h"

#include <string_view>
#include <utility>

#include "reader/base/little_endian.h"

namespace shardmill {
namespace {

// Smaller pieces of a file are cheaper to gather than to write each from its place.
constexpr size_t kLargePiece = size_t{8} << 10;

uint8_t* Bytes(std::string* text) { return reinterpret_cast<uint8_t*>(text->data()); }

Status CheckField(const FieldSpec& spec, const EncodedField& field) {
  RETURN_IF_ERROR(spec.TensorBytes(field.variable_dims).status());
  const Status fits = CheckStart(spec, field.variable_dims, field.bytes.data(), field.bytes.size());
  return fits.ok() ? fits : InvalidArgumentError("field " + spec.name + ": " + fits.message());
}

}  // namespace

Status BlockBuilder::Add(EncodedRecord record) {
  if (record.fields.size() != schema_->fields.size()) {
    return InvalidArgumentError("a record has " + std::to_string(record.fields.size()) +
                                " fields, the schema has " +
                                std::to_string(schema_->fields.size()));
  }
  for (size_t f = 0; f < record.fields.size(); ++f) {
    RETURN_IF_ERROR(CheckField(schema_->fields[f], record.fields[f]));
  }
  records_.push_back(std::move(record));
  return OkStatus();
}

// Offsets and dimensions of a region that is not dense.
std::string BlockBuilder::RegionTable(size_t field) const {
  const FieldSpec& spec = schema_->fields[field];
  std::string table(
      RegionTableBytes(records_.size(), static_cast<uint64_t>(spec.VariableDimCount())), '\0');
  uint8_t* out = Bytes(&table);
  uint64_t offset = 0;
  for (const EncodedRecord& record : records_) {
    StoreU64(offset, out);
    out += 8;
    offset += record.fields[field].bytes.size();
  }
  StoreU64(offset, out);
  out += 8;
  for (const EncodedRecord& record : records_) {
    for (const uint32_t dim : record.fields[field].variable_dims) {
      StoreU32(dim, out);
      out += 4;
    }
  }
  return table;
}

std::string BlockBuilder::MetaTable() const {
  std::string table(MetaTableBytes(records_.size()), '\0');
  uint8_t* out = Bytes(&table);
  uint64_t offset = 0;
  for (const EncodedRecord& record : records_) {
    StoreU64(offset, out);
    out += 8;
    offset += record.meta.size();
  }
  StoreU64(offset, out);
  return table;
}

BlockHeader BlockBuilder::MakeHeader(const BlockHeader& identity,
                                     const std::vector<std::string>& tables,
                                     const std::string& meta) const {
  BlockHeader header = identity;
  header.records = records();
  header.fields.resize(schema_->fields.size());
  for (size_t f = 0; f < header.fields.size(); ++f) {
    FieldRegion& region = header.fields[f];
    region.codec = static_cast<uint32_t>(schema_->fields[f].codec);
    region.bytes = tables[f].size();
    for (const EncodedRecord& record : records_) region.bytes += record.fields[f].bytes.size();
    if (!tables[f].empty()) region.table_checksum = Checksum64(tables[f].data(), tables[f].size());
  }
  header.meta_bytes = meta.size();
  header.meta_checksum = Checksum64(meta.data(), meta.size());
  LayOutBlock(&header);
  return header;
}

std::vector<uint64_t> BlockBuilder::RecordChecksums() const {
  std::vector<uint64_t> checksums;
  checksums.reserve(schema_->fields.size() * records_.size());
  for (size_t f = 0; f < schema_->fields.size(); ++f) {
    for (const EncodedRecord& record : records_) checksums.push_back(record.fields[f].checksum);
  }
  return checksums;
}

Status BlockBuilder::WriteField(size_t field, AtomicFile* file) const {
  std::vector<std::string_view> pieces;
  for (const EncodedRecord& record : records_) {
    const std::string& bytes = record.fields[field].bytes;
    if (bytes.size() >= kLargePiece) {
      pieces.push_back(bytes);
      continue;
    }
    RETURN_IF_ERROR(file->AppendAll(pieces));
    pieces.clear();
    RETURN_IF_ERROR(file->Append(bytes.data(), bytes.size()));
  }
  return file->AppendAll(pieces);
}

Result<BlockHeader> BlockBuilder::Write(const BlockHeader& identity, AtomicFile* file) {
  std::vector<std::string> tables;
  for (size_t f = 0; f < schema_->fields.size(); ++f) {
    tables.push_back(schema_->fields[f].IsDense() ? std::string() : RegionTable(f));
  }
  std::string meta = MetaTable();
  for (const EncodedRecord& record : records_) meta += record.meta;

  BlockHeader header = MakeHeader(identity, tables, meta);
  const std::string header_bytes = EncodeBlockHeader(header, RecordChecksums());
  header.checksum =
      LoadU64(reinterpret_cast<const uint8_t*>(header_bytes.data() + kBlockChecksumOffset));
  RETURN_IF_ERROR(file->Append(header_bytes.data(), header_bytes.size()));
  for (size_t f = 0; f < tables.size(); ++f) {
    RETURN_IF_ERROR(file->Append(tables[f].data(), tables[f].size()));
    RETURN_IF_ERROR(WriteField(f, file));
    const uint64_t region_bytes = header.fields[f].bytes;
    RETURN_IF_ERROR(file->AppendZeros(PaddedBytes(region_bytes) - region_bytes));
  }
  RETURN_IF_ERROR(file->Append(meta.data(), meta.size()));
  RETURN_IF_ERROR(file->AppendZeros(PaddedBytes(meta.size()) - meta.size()));
  records_.clear();
  return header;
}

}  // namespace shardmill
