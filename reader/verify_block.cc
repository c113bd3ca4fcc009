#include "reader/verify_block.h"

#include <algorithm>
#include <utility>

#include "reader/base/checksum.h"
#include "reader/codec.h"

namespace shardmill {
namespace {

// What a codec may want to see of a record; far more than any picture has.
constexpr uint64_t kMaxStartBytes = uint64_t{1} << 30;
// A block says how many records it has, and holes in a file cost nothing: beyond this many damaged
// ones they are counted but not listed, and all of the block are given up.
constexpr size_t kMaxListedRecords = 100000;

}  // namespace

void BlockVerifier::AddFinding(std::optional<uint32_t> index, const std::string& field,
                               const std::string& message) {
  Finding finding;
  finding.file = shard_.file->path();
  finding.block = number_;
  finding.field = field;
  finding.message = message;
  if (index) {
    finding.record = entry_.first_record + *index;
    if (report_.has_keys) finding.key = meta_.KeyOf(*shard_.file, entry_.offset, header_, *index);
  }
  report_.findings.push_back(std::move(finding));
}

bool BlockVerifier::Check(const std::string& field, const Status& status) {
  if (status.ok()) return true;
  if (status.code() == StatusCode::kIo && !report_.lost_file) {
    report_.lost_file = true;
    report_.read_error = status;
  }
  AddFinding(std::nullopt, field, status.message());
  return false;
}

bool BlockVerifier::CheckOrLose(const std::string& field, const Status& status) {
  if (!status.ok() && !report_.all_lost) {
    report_.all_lost = true;
    report_.lost_reason = field.empty() ? status.message() : field + ": " + status.message();
  }
  return Check(field, status);
}

void BlockVerifier::LoseRecord(uint32_t index, const std::string& field,
                               const std::string& message) {
  if (report_.lost.size() >= kMaxListedRecords) {
    ++unlisted_;
    return;
  }
  report_.lost.push_back(index);
  AddFinding(index, field, message);
}

void BlockVerifier::GiveUpUnlisted() {
  if (unlisted_ == 0) return;
  (void)CheckOrLose("", DataLossError(std::to_string(unlisted_) +
                                      " more findings about records of this block are not listed; "
                                      "it is given up"));
}

BlockReport BlockVerifier::Verify(const Shard& shard, const BlockTableEntry& entry,
                                  const BlockIdentity& identity, KeyHashes* keys) {
  shard_ = shard;
  report_ = BlockReport();
  entry_ = entry;
  number_ = identity.block_number;
  unlisted_ = 0;
  Result<BlockHeader> header = ReadBlockHeader(*shard_.file, entry.offset, entry.bytes);
  if (!header.ok()) {
    const Status& status = header.status();
    CheckOrLose("",
                Status(status.code(), status.message() + "; its " + std::to_string(entry.records) +
                                          " records cannot be checked"));
    return std::move(report_);
  }
  header_ = std::move(header).value();
  report_.header_checksum = header_.checksum;
  // A block in the wrong place is checked all the same: it may be sound in itself.
  report_.in_place = CheckOrLose("", CheckBlockIdentity(header_, identity, entry));
  if (shard_.schema == nullptr || CheckOrLose("", CheckBlockHeader(header_, *shard_.schema))) {
    VerifyRegions(keys);
  }
  GiveUpUnlisted();
  std::sort(report_.lost.begin(), report_.lost.end());
  report_.lost.erase(std::unique(report_.lost.begin(), report_.lost.end()), report_.lost.end());
  return std::move(report_);
}

void BlockVerifier::VerifyRegions(KeyHashes* keys) {
  VerifyMeta(keys);
  if (shard_.schema == nullptr) {
    if (!report_.all_lost) report_.lost_reason = "the schema is lost";
    report_.all_lost = true;
    return;
  }
  for (uint32_t f = 0; f < header_.fields.size() && !report_.lost_file; ++f) VerifyField(f);
}

Status BlockVerifier::CheckPadding(uint64_t region_offset, uint64_t region_bytes) {
  const uint64_t end = entry_.offset + region_offset + region_bytes;
  ASSIGN_OR_RETURN(const bool is_zero,
                   shard_.file->IsZero(end, PaddedBytes(region_bytes) - region_bytes));
  if (!is_zero) return DataLossError("the padding behind the region is not zero");
  return OkStatus();
}

void BlockVerifier::VerifyMeta(KeyHashes* keys) {
  std::vector<uint32_t> malformed;
  const auto take = [&](uint32_t first, const std::vector<std::string_view>& found) {
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].empty() && malformed.size() > kMaxListedRecords) {
        ++unlisted_;
      } else if (found[i].empty()) {
        malformed.push_back(first + static_cast<uint32_t>(i));
      } else if (keys != nullptr) {
        keys->Add(Checksum64(found[i].data(), found[i].size()));
      }
    }
  };
  const Status status = meta_.Walk(*shard_.file, entry_.offset, header_, take);
  report_.has_keys = CheckOrLose("", status.WithContext("metadata"));
  if (!report_.has_keys) return;
  for (const uint32_t index : malformed) LoseRecord(index, "", "the metadata is malformed");
  Check("", CheckPadding(header_.meta_offset, header_.meta_bytes).WithContext("metadata"));
}

void BlockVerifier::VerifyField(uint32_t field) {
  const FieldSpec& spec = shard_.schema->fields[field];
  const FieldRegion& region = header_.fields[field];
  const Status padding = CheckPadding(region.offset, region.bytes);
  padding.code() == StatusCode::kIo ? CheckOrLose(spec.name, padding) : Check(spec.name, padding);
  if (report_.lost_file) return;
  if (spec.IsDense()) {
    CheckOrLose(spec.name, VerifyDenseRecords(field));
  } else if (CheckOrLose(spec.name, VerifyTable(field))) {
    CheckOrLose(spec.name, VerifyRecordsByTable(field));
  }
}

Status BlockVerifier::VerifyDenseRecords(uint32_t field) {
  const uint64_t bytes = shard_.schema->fields[field].TensorBytes();
  const uint64_t region = entry_.offset + header_.fields[field].offset;
  bounds_.resize(std::min(kWindowRecords, header_.records) + 1);
  for (size_t i = 0; i < bounds_.size(); ++i) bounds_[i] = i * bytes;
  for (uint32_t first = 0; first < header_.records;) {
    const uint32_t count = std::min(kWindowRecords, header_.records - first);
    RETURN_IF_ERROR(CompareSums(field, region + first * bytes, first, count));
    first += count;
  }
  return OkStatus();
}

// Offsets and dimensions of a field that is not dense: their sum, and the zeros behind them.
Status BlockVerifier::VerifyTable(uint32_t field) {
  const FieldRegion& region = header_.fields[field];
  const uint64_t dims = static_cast<uint64_t>(shard_.schema->fields[field].VariableDimCount());
  const uint64_t table_bytes = RegionTableBytes(header_.records, dims);
  const uint64_t offset = entry_.offset + region.offset;
  ASSIGN_OR_RETURN(const uint64_t checksum, shard_.file->Checksum64(offset, table_bytes));
  if (checksum != region.table_checksum) {
    return DataLossError("the offsets are damaged: their checksum differs");
  }
  const uint64_t used = VariableDimsOffset(header_.records, dims, header_.records);
  ASSIGN_OR_RETURN(const bool is_zero, shard_.file->IsZero(offset + used, table_bytes - used));
  if (!is_zero) return DataLossError("the padding behind the dimensions is not zero");
  return OkStatus();
}

Status BlockVerifier::VerifyRecordsByTable(uint32_t field) {
  const FieldRegion& region = header_.fields[field];
  const uint64_t dims = static_cast<uint64_t>(shard_.schema->fields[field].VariableDimCount());
  const uint64_t table = entry_.offset + region.offset;
  const uint64_t table_bytes = RegionTableBytes(header_.records, dims);
  for (uint32_t first = 0; first < header_.records;) {
    const uint32_t count = std::min(kWindowRecords, header_.records - first);
    RETURN_IF_ERROR(ReadBounds(*shard_.file, table, header_.records, region.bytes - table_bytes,
                               first, count, &bounds_));
    RETURN_IF_ERROR(CompareSums(field, table + table_bytes, first, count));
    RETURN_IF_ERROR(CheckShapes(field, table + table_bytes, first, count));
    first += count;
  }
  return OkStatus();
}

// The sums of the records at bounds_ from `base` on, beside those in the header. Afterwards
// sums_[i] == expected_[i] tells which records are sound.
Status BlockVerifier::CompareSums(uint32_t field, uint64_t base, uint32_t first, uint32_t count) {
  expected_.resize(count);
  sums_.resize(count);
  RETURN_IF_ERROR(shard_.file->Read(entry_.offset + header_.RecordChecksumOffset(field, first),
                                    8 * uint64_t{count}, expected_.data()));
  RETURN_IF_ERROR(shard_.file->Checksum64Each(base, bounds_.data(), count, sums_.data()));
  if (std::equal(sums_.begin(), sums_.end(), expected_.begin())) return OkStatus();
  for (uint32_t i = 0; i < count; ++i) {
    if (sums_[i] != expected_[i]) {
      LoseRecord(first + i, shard_.schema->fields[field].name,
                 "the stored bytes are damaged: their checksum differs");
    }
  }
  return OkStatus();
}

// Whether the stored bytes say that they decode to the shape.
Status BlockVerifier::CheckShape(const FieldSpec& spec, const std::vector<uint32_t>& dims,
                                 const FileRange& stored) {
  const uint64_t bytes = CodecStartBytes(spec, stored.bytes);
  if (bytes > kMaxStartBytes) return DataLossError("the stored bytes are impossibly many");
  if (start_.size() < bytes) start_.resize(bytes);
  RETURN_IF_ERROR(shard_.file->Read(stored.offset, bytes, start_.data()));
  return CheckStart(spec, dims, start_.data(), stored.bytes);
}

Status BlockVerifier::CheckShapes(uint32_t field, uint64_t heap, uint32_t first, uint32_t count) {
  const FieldSpec& spec = shard_.schema->fields[field];
  const size_t dim_count = static_cast<size_t>(spec.VariableDimCount());
  dims_.resize(count * dim_count);
  const uint64_t dims_offset = VariableDimsOffset(header_.records, dim_count, first);
  RETURN_IF_ERROR(shard_.file->Read(entry_.offset + header_.fields[field].offset + dims_offset,
                                    4 * dims_.size(), dims_.data()));
  std::vector<uint32_t> dims(dim_count);
  for (uint32_t i = 0; i < count; ++i) {
    if (sums_[i] != expected_[i]) continue;  // listed already
    std::copy_n(dims_.begin() + static_cast<std::ptrdiff_t>(i * dim_count), dim_count,
                dims.begin());
    const Status status = CheckShape(spec, dims, {heap + bounds_[i], bounds_[i + 1] - bounds_[i]});
    if (status.code() == StatusCode::kIo) return status;
    if (!status.ok()) LoseRecord(first + i, spec.name, status.message());
  }
  return OkStatus();
}

}  // namespace shardmill
