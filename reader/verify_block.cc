#include "reader/verify_block.h"

#include <algorithm>

#include "proto/record_meta.pb.h"
#include "reader/base/little_endian.h"
#include "reader/codec.h"
#include "reader/names.h"

namespace shardmill {
namespace {

const uint8_t* Bytes(const std::string& text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

// The offsets at the start of a table, checked against the size of the heap behind it.
Result<std::vector<uint64_t>> DecodeBounds(const std::string& table, uint32_t records,
                                           uint64_t heap_bytes) {
  std::vector<uint64_t> bounds(uint64_t{records} + 1);
  for (size_t i = 0; i < bounds.size(); ++i) bounds[i] = LoadU64(Bytes(table) + 8 * i);
  if (bounds.front() != 0 || bounds.back() != heap_bytes ||
      !std::is_sorted(bounds.begin(), bounds.end())) {
    return DataLossError("the offsets do not divide the region");
  }
  return bounds;
}

}  // namespace

void BlockVerifier::AddFinding(std::optional<uint32_t> index, const std::string& field,
                               const std::string& message) {
  Finding finding;
  finding.file = file_->path();
  finding.block = number_;
  finding.field = field;
  finding.message = message;
  if (index) {
    finding.record = entry_.first_record + *index;
    if (*index < record_keys_.size()) finding.key = record_keys_[*index];
  }
  findings_->push_back(std::move(finding));
}

void BlockVerifier::AddStatus(const std::string& field, const Status& status) {
  if (status.ok()) return;
  if (status.code() == StatusCode::kIo) lost_file_ = true;
  AddFinding(std::nullopt, field, status.message());
}

std::optional<uint64_t> BlockVerifier::Verify(const BlockTableEntry& entry,
                                              const BlockIdentity& identity) {
  entry_ = entry;
  number_ = identity.block_number;
  record_keys_.clear();
  const Result<BlockHeader> header = ReadBlockHeader(*file_, entry.offset, entry.bytes);
  if (!header.ok()) {
    const Status& status = header.status();
    AddStatus("",
              Status(status.code(), status.message() + "; its " + std::to_string(entry.records) +
                                        " records cannot be checked"));
    return std::nullopt;
  }
  header_ = *header;
  // A block in the wrong place is checked all the same: it may be sound in itself.
  AddStatus("", CheckBlockIdentity(header_, identity, entry));
  if (schema_ != nullptr) {
    const Status fits = CheckBlockHeader(header_, *schema_);
    AddStatus("", fits);
    if (!fits.ok()) return header_.checksum;
  }
  VerifyMeta();
  if (schema_ == nullptr) return header_.checksum;
  for (uint32_t f = 0; f < header_.fields.size() && !lost_file_; ++f) VerifyField(f);
  return header_.checksum;
}

Status BlockVerifier::CheckPadding(uint64_t region_offset, uint64_t region_bytes) {
  const uint64_t end = entry_.offset + region_offset + region_bytes;
  ASSIGN_OR_RETURN(const bool is_zero,
                   file_->IsZero(end, PaddedBytes(region_bytes) - region_bytes));
  if (!is_zero) return DataLossError("the padding behind the region is not zero");
  return OkStatus();
}

Status BlockVerifier::ReadMeta(std::vector<uint64_t>* bounds, std::string* heap) {
  const uint64_t offset = entry_.offset + header_.meta_offset;
  const uint64_t table_bytes = MetaTableBytes(header_.records);
  if (header_.meta_bytes < table_bytes) return DataLossError("metadata has no room for offsets");
  // The checksum first: it needs no memory, whatever the header says.
  ASSIGN_OR_RETURN(const uint64_t checksum, file_->Checksum64(offset, header_.meta_bytes));
  if (checksum != header_.meta_checksum) {
    return DataLossError("the metadata region is damaged: its checksum differs");
  }
  RETURN_IF_ERROR(CheckPadding(header_.meta_offset, header_.meta_bytes));
  std::string table(table_bytes, '\0');
  RETURN_IF_ERROR(file_->Read(offset, table_bytes, table.data()));
  heap->resize(header_.meta_bytes - table_bytes);
  RETURN_IF_ERROR(file_->Read(offset + table_bytes, heap->size(), heap->data()));
  ASSIGN_OR_RETURN(*bounds, DecodeBounds(table, header_.records, heap->size()));
  return OkStatus();
}

void BlockVerifier::VerifyMeta() {
  std::vector<uint64_t> bounds;
  std::string heap;
  const Status status = ReadMeta(&bounds, &heap);
  if (!status.ok()) return AddStatus("", status.WithContext("metadata"));
  TakeKeys(bounds, heap);
}

void BlockVerifier::TakeKeys(const std::vector<uint64_t>& bounds, const std::string& heap) {
  proto::RecordMeta meta;
  record_keys_.resize(header_.records);
  for (uint32_t i = 0; i < header_.records; ++i) {
    const uint64_t bytes = bounds[i + 1] - bounds[i];
    const bool is_sound = bytes <= kMaxMetaBytes &&
                          meta.ParseFromArray(heap.data() + bounds[i], static_cast<int>(bytes)) &&
                          IsRecordKey(meta.key());
    if (!is_sound) {
      AddFinding(i, "", "the metadata is malformed");
      continue;
    }
    record_keys_[i] = meta.key();
    keys_->push_back({Checksum64(meta.key().data(), meta.key().size()), entry_.first_record + i});
  }
}

// Offsets and dimensions of a field that is not dense, once their checksum is right.
Status BlockVerifier::ReadTable(uint32_t field, std::string* table) {
  const FieldRegion& region = header_.fields[field];
  const int variable_dims = schema_->fields[field].VariableDimCount();
  table->resize(RegionTableBytes(header_.records, static_cast<uint64_t>(variable_dims)));
  const uint64_t offset = entry_.offset + region.offset;
  RETURN_IF_ERROR(file_->Read(offset, table->size(), table->data()));
  if (Checksum64(table->data(), table->size()) != region.table_checksum) {
    return DataLossError("the offsets are damaged: their checksum differs");
  }
  const uint64_t used =
      VariableDimsOffset(header_.records, static_cast<uint64_t>(variable_dims), header_.records);
  if (table->find_first_not_of('\0', used) != std::string::npos) {
    return DataLossError("the padding behind the dimensions is not zero");
  }
  return OkStatus();
}

void BlockVerifier::VerifyField(uint32_t field) {
  const FieldSpec& spec = schema_->fields[field];
  const FieldRegion& region = header_.fields[field];
  AddStatus(spec.name, CheckPadding(region.offset, region.bytes));
  if (spec.IsDense()) {
    std::vector<uint64_t> bounds(uint64_t{header_.records} + 1);
    const uint64_t bytes = spec.TensorBytes();
    for (size_t i = 0; i < bounds.size(); ++i) bounds[i] = i * bytes;
    VerifyRecords(field, region.offset, bounds);
    return;
  }
  std::string table;
  const Status status = ReadTable(field, &table);
  if (!status.ok()) return AddStatus(spec.name, status);
  const Result<std::vector<uint64_t>> bounds =
      DecodeBounds(table, header_.records, region.bytes - table.size());
  if (!bounds.ok()) return AddStatus(spec.name, bounds.status());
  VerifySizes(field, table, *bounds, VerifyRecords(field, region.offset + table.size(), *bounds));
}

// Whether the stored bytes decode to the size that the shape says.
Status BlockVerifier::CheckSize(const FieldSpec& spec, const std::vector<uint32_t>& dims,
                                const FileRange& stored) const {
  std::string start(CodecStartBytes(spec, stored.bytes), '\0');
  RETURN_IF_ERROR(file_->Read(stored.offset, start.size(), start.data()));
  return CheckStart(spec, dims, start.data(), stored.bytes);
}

void BlockVerifier::VerifySizes(uint32_t field, const std::string& table,
                                const std::vector<uint64_t>& bounds,
                                const std::vector<bool>& sound) {
  const FieldSpec& spec = schema_->fields[field];
  const uint64_t heap = entry_.offset + header_.fields[field].offset + table.size();
  std::vector<uint32_t> dims(static_cast<size_t>(spec.VariableDimCount()));
  for (uint32_t i = 0; i < header_.records; ++i) {
    if (!sound[i]) continue;  // listed already
    const uint8_t* in = Bytes(table) + VariableDimsOffset(header_.records, dims.size(), i);
    for (uint32_t& dim : dims) {
      dim = LoadU32(in);
      in += 4;
    }
    const Status status = CheckSize(spec, dims, {heap + bounds[i], bounds[i + 1] - bounds[i]});
    if (status.code() == StatusCode::kIo) return AddStatus(spec.name, status);
    if (!status.ok()) AddFinding(i, spec.name, status.message());
  }
}

std::vector<bool> BlockVerifier::VerifyRecords(uint32_t field, uint64_t heap_offset,
                                               const std::vector<uint64_t>& bounds) {
  const FieldSpec& spec = schema_->fields[field];
  std::vector<bool> sound(header_.records, false);
  std::string expected(8 * uint64_t{header_.records}, '\0');
  const Status status = file_->Read(entry_.offset + header_.RecordChecksumOffset(field, 0),
                                    expected.size(), expected.data());
  const auto found = status.ok() ? file_->Checksum64Each(entry_.offset + heap_offset, bounds)
                                 : Result<std::vector<uint64_t>>(status);
  if (!found.ok()) {
    AddStatus(spec.name, found.status());
    return sound;
  }
  for (uint32_t i = 0; i < header_.records; ++i) {
    sound[i] = (*found)[i] == LoadU64(Bytes(expected) + 8 * uint64_t{i});
    if (!sound[i]) AddFinding(i, spec.name, "the stored bytes are damaged: their checksum differs");
  }
  return sound;
}

}  // namespace shardmill
