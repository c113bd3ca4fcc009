#include "reader/shard_reader.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/input_file.h"
#include "reader/block_index.h"
#include "reader/names.h"
#include "reader/reread_from_disk.h"
#include "reader/shard_parts.h"

namespace shardmill {
namespace {

// As far as the processor's own prefetcher does not get by itself: the first page.
constexpr uint64_t kWarmBytes = 4096;
constexpr uint64_t kCacheLineBytes = 64;

}  // namespace

ReadScratch::ReadScratch() = default;
ReadScratch::~ReadScratch() = default;
ReadScratch::ReadScratch(ReadScratch&&) noexcept = default;
ReadScratch& ReadScratch::operator=(ReadScratch&&) noexcept = default;

void ReadScratch::Reserve(uint64_t stored_bytes) {
  dims_.reserve(kMaxRank);
  if (stored_.size() < stored_bytes) stored_.resize(stored_bytes);
}

struct ShardReader::Impl {
  std::unique_ptr<InputFile> file;
  ShardParts parts;
  std::unique_ptr<BlockIndex> index;
  ChecksumPolicy policy = ChecksumPolicy::kFirstTouch;
  mutable std::atomic<int64_t> modified_ns{0};       // as CheckUnchanged() last saw it
  std::vector<std::optional<uint64_t>> fixed_bytes;  // per field; none where dimensions vary

  size_t field_count() const { return parts.schema.fields.size(); }
  Status CheckArguments(uint64_t record, int field) const;
  Result<uint64_t> TensorBytes(uint64_t record, uint32_t field, std::vector<uint32_t>* dims) const;
  Status Find(uint64_t record, uint32_t field, StoredPlace* place) const;
  bool WantsCheck(const StoredPlace& place) const;
  Status DescribeDamage(const FileRange& range, uint64_t expected) const;
  Status CheckSum(const StoredPlace& place, uint64_t sum) const;
  Status CheckStored(const StoredPlace& place, const void* stored) const;
  Status ReadStored(const FileRange& range, void* out, ReadScratch* scratch) const;
  Status ReadField(uint64_t record, uint32_t field, void* out, uint64_t bytes,
                   ReadScratch* scratch) const;
  // "PATH: block B: record R: field F: …"
  Status Locate(const Status& status, uint64_t record, int field) const;
};

Status ShardReader::Impl::Locate(const Status& status, uint64_t record, int field) const {
  if (status.ok()) return status;
  std::string where = file->path() + ": block " + std::to_string(index->BlockOf(record)) +
                      ": record " + std::to_string(record);
  if (field >= 0) where += ": field " + parts.schema.fields[static_cast<size_t>(field)].name;
  return status.WithContext(where);
}

Status ShardReader::Impl::CheckArguments(uint64_t record, int field) const {
  if (record >= parts.footer.record_count) {
    return InvalidArgumentError(file->path() + " has no record " + std::to_string(record) +
                                ", only " + std::to_string(parts.footer.record_count));
  }
  if (field < 0 || static_cast<size_t>(field) >= field_count()) {
    return InvalidArgumentError(file->path() + " has no field number " + std::to_string(field));
  }
  return OkStatus();
}

Status ShardReader::Impl::Find(uint64_t record, uint32_t field, StoredPlace* place) const {
  place->record = record;
  place->field = field;
  ASSIGN_OR_RETURN(place->in_block, index->Find(record));
  ASSIGN_OR_RETURN(place->range, index->StoredRange(place->in_block, field));
  return OkStatus();
}

bool ShardReader::Impl::WantsCheck(const StoredPlace& place) const {
  if (policy == ChecksumPolicy::kFirstTouch) {
    return !BlockIndex::IsVerified(place.in_block, place.field);
  }
  return policy == ChecksumPolicy::kAlways;
}

// A bad disk and bad memory ask for different cures.
Status ShardReader::Impl::DescribeDamage(const FileRange& range, uint64_t expected) const {
  std::string message = "the stored bytes are damaged: their checksum differs; " +
                        std::to_string(range.bytes) + " bytes at offset " +
                        std::to_string(range.offset);
  // The first few tell; where thousands of records are damaged, each need not be read twice.
  static std::atomic<int> rereads_left{16};
  if (rereads_left.fetch_sub(1) > 0 && ChecksumOnDisk(*file, range) == expected) {
    message +=
        ", which are sound on the disk: unless the file was just written, the memory of this "
        "machine is at fault";
  }
  return DataLossError(message);
}

Status ShardReader::Impl::CheckSum(const StoredPlace& place, uint64_t sum) const {
  ASSIGN_OR_RETURN(const uint64_t expected, index->StoredChecksum(place.in_block, place.field));
  if (sum != expected) return DescribeDamage(place.range, expected);
  BlockIndex::MarkVerified(place.in_block, place.field);
  return OkStatus();
}

Status ShardReader::Impl::CheckStored(const StoredPlace& place, const void* stored) const {
  return CheckSum(place, Checksum64(stored, place.range.bytes));
}

// Also writes the variable dimensions to `dims`.
Result<uint64_t> ShardReader::Impl::TensorBytes(uint64_t record, uint32_t field,
                                                std::vector<uint32_t>* dims) const {
  dims->clear();
  if (fixed_bytes[field].has_value()) return *fixed_bytes[field];
  RETURN_IF_ERROR(index->VariableDims(record, field, dims));
  const Result<uint64_t> bytes = parts.schema.fields[field].TensorBytes(*dims);
  if (!bytes.ok()) return DataLossError(bytes.status().message());
  return bytes;
}

Status ShardReader::Impl::ReadStored(const FileRange& range, void* out,
                                     ReadScratch* scratch) const {
  if (scratch->source_ != nullptr) {
    ASSIGN_OR_RETURN(const bool done, scratch->source_->Read({*file, range, scratch->source_slot_},
                                                             out, scratch->clock_));
    if (done) return OkStatus();
  }
  return file->Read(range.offset, range.bytes, out);
}

Status ShardReader::Impl::ReadField(uint64_t record, uint32_t field, void* out, uint64_t bytes,
                                    ReadScratch* scratch) const {
  EnterStage(scratch->clock_, Stage::kCopy);
  const FieldSpec& spec = parts.schema.fields[field];
  ASSIGN_OR_RETURN(const uint64_t tensor_bytes, TensorBytes(record, field, &scratch->dims_));
  if (bytes != tensor_bytes) {
    return InvalidArgumentError("the buffer has " + std::to_string(bytes) +
                                " bytes, the tensor has " + std::to_string(tensor_bytes));
  }
  StoredPlace place;
  RETURN_IF_ERROR(Find(record, field, &place));
  const uint64_t stored_bytes = place.range.bytes;
  const bool is_raw = spec.codec == Codec::kRaw;
  if (is_raw && stored_bytes != bytes) {
    return DataLossError("the stored size is not that of the tensor");
  }
  // The range lies in the file, so its size is bounded by what is on the disk.
  if (!is_raw) scratch->Reserve(stored_bytes);
  void* const stored = is_raw ? out : scratch->stored();
  RETURN_IF_ERROR(ReadStored(place.range, stored, scratch));
  if (WantsCheck(place)) {
    EnterStage(scratch->clock_, Stage::kChecksum);
    RETURN_IF_ERROR(CheckStored(place, stored));
  }
  if (is_raw) return OkStatus();
  EnterStage(scratch->clock_, Stage::kDecode);
  return scratch->decoder_.Decode(spec, stored, stored_bytes, out, bytes, scratch->dims_);
}

ShardReader::ShardReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ShardReader::~ShardReader() = default;

Result<std::unique_ptr<ShardReader>> ShardReader::Open(const std::string& path,
                                                       const ReadOptions& options) {
  auto impl = std::make_unique<Impl>();
  ASSIGN_OR_RETURN(impl->file, InputFile::Open(path, options.access));
  Result<ShardParts> parts = ReadShardParts(*impl->file);
  if (!parts.ok()) return parts.status().WithContext(path);
  impl->parts = std::move(parts).value();
  impl->policy = options.checksums;
  impl->modified_ns = impl->file->opened_modified_ns();
  for (const FieldSpec& spec : impl->parts.schema.fields) {
    impl->fixed_bytes.push_back(spec.IsFixedShape() ? std::optional(spec.TensorBytes())
                                                    : std::nullopt);
  }
  const Superblock& superblock = impl->parts.superblock;
  impl->index =
      std::make_unique<BlockIndex>(impl->file.get(), &impl->parts.schema,
                                   BlockIndex::Shard{superblock.dataset_id, superblock.shard_number,
                                                     SplitSum(impl->parts.schema_message->split()),
                                                     superblock.records_per_block},
                                   std::exchange(impl->parts.footer.blocks, {}));
  return std::unique_ptr<ShardReader>(new ShardReader(std::move(impl)));
}

const std::string& ShardReader::path() const { return impl_->file->path(); }
const InputFile& ShardReader::file() const { return *impl_->file; }
const RecordSchema& ShardReader::schema() const { return impl_->parts.schema; }
const proto::ShardSchema& ShardReader::schema_message() const {
  return *impl_->parts.schema_message;
}
const proto::ShardSummary& ShardReader::summary() const { return *impl_->parts.summary; }
const Digest& ShardReader::dataset_id() const { return impl_->parts.superblock.dataset_id; }
const Digest& ShardReader::digest() const { return impl_->parts.postscript.digest; }
uint32_t ShardReader::shard_number() const { return impl_->parts.superblock.shard_number; }
uint32_t ShardReader::shard_count() const { return impl_->parts.superblock.shard_count; }
uint64_t ShardReader::first_input() const { return impl_->parts.superblock.first_input; }
uint64_t ShardReader::end_input() const { return impl_->parts.superblock.end_input; }
uint64_t ShardReader::records() const { return impl_->parts.footer.record_count; }
uint64_t ShardReader::file_bytes() const { return impl_->file->size(); }
uint32_t ShardReader::block_count() const {
  return static_cast<uint32_t>(impl_->index->blocks().size());
}

ShardReader::BlockInfo ShardReader::block(uint32_t index) const {
  SHARDMILL_CHECK(index < block_count());
  const BlockTableEntry& entry = impl_->index->blocks()[index];
  return {entry.offset, entry.bytes, entry.first_record, entry.records};
}

Status ShardReader::VariableDims(uint64_t record, int field, std::vector<uint32_t>* dims) const {
  RETURN_IF_ERROR(impl_->CheckArguments(record, field));
  const Status status = impl_->index->VariableDims(record, static_cast<uint32_t>(field), dims);
  return impl_->Locate(status, record, field);
}

Result<std::vector<uint32_t>> ShardReader::VariableDims(uint64_t record, int field) const {
  std::vector<uint32_t> dims;
  RETURN_IF_ERROR(VariableDims(record, field, &dims));
  return dims;
}

Result<FileRange> ShardReader::StoredRange(uint64_t record, int field) const {
  RETURN_IF_ERROR(impl_->CheckArguments(record, field));
  StoredPlace place;
  RETURN_IF_ERROR(Find(record, field, &place));
  return place.range;
}

Result<uint64_t> ShardReader::StoredBytes(uint64_t record, int field) const {
  ASSIGN_OR_RETURN(const FileRange range, StoredRange(record, field));
  return range.bytes;
}

Status ShardReader::Read(uint64_t record, int field, void* out, uint64_t bytes,
                         ReadScratch* scratch) const {
  RETURN_IF_ERROR(impl_->CheckArguments(record, field));
  Status status = impl_->ReadField(record, static_cast<uint32_t>(field), out, bytes, scratch);
  if (status.ok()) return status;
  return impl_->Locate(status, record, field);
}

Status ShardReader::Find(uint64_t record, int field, StoredPlace* place) const {
  Status status = impl_->Find(record, static_cast<uint32_t>(field), place);
  if (status.ok()) return status;
  return impl_->Locate(status, record, field);
}

Status ShardReader::CopyStored(const StoredPlace& place, void* out, ReadScratch* scratch) const {
  Status status = impl_->ReadStored(place.range, out, scratch);
  if (status.ok()) return status;
  return impl_->Locate(status, place.record, static_cast<int>(place.field));
}

bool ShardReader::WantsCheck(const StoredPlace& place) const { return impl_->WantsCheck(place); }

Status ShardReader::CheckStored(const StoredPlace& place, const void* stored) const {
  Status status = impl_->CheckStored(place, stored);
  if (status.ok()) return status;
  return impl_->Locate(status, place.record, static_cast<int>(place.field));
}

Status ShardReader::DecodeStored(const StoredPlace& place, const void* stored, void* out,
                                 uint64_t bytes, ReadScratch* scratch) const {
  const FieldSpec& spec = impl_->parts.schema.fields[place.field];
  Status status = scratch->decoder_.Decode(spec, stored, place.range.bytes, out, bytes);
  if (status.ok()) return status;
  return impl_->Locate(status, place.record, static_cast<int>(place.field));
}

void ShardReader::WarmFind(uint64_t record, int field) const {
  impl_->index->WarmRange(record, static_cast<uint32_t>(field));
}

void ShardReader::WarmCopy(const StoredPlace& place) const {
  const FileRange& range = place.range;
  if (impl_->file->data() == nullptr || !impl_->file->CheckRange(range.offset, range.bytes).ok()) {
    return;
  }
  const uint8_t* begin = impl_->file->data() + range.offset;
  const uint64_t bytes = std::min(range.bytes, kWarmBytes);
  for (uint64_t at = 0; at < bytes; at += kCacheLineBytes) __builtin_prefetch(begin + at, 0, 2);
}

void ShardReader::WarmCheck(const StoredPlace& place) const {
  impl_->index->WarmChecksum(place.in_block, place.field);
}

Result<proto::RecordMeta> ShardReader::ReadMeta(uint64_t record) const {
  RETURN_IF_ERROR(impl_->CheckArguments(record, 0));
  const Result<FileRange> range = impl_->index->MetaRange(record);
  if (!range.ok()) return impl_->Locate(range.status(), record, -1);
  if (range->bytes > kMaxMetaBytes) {
    return impl_->Locate(DataLossError("the metadata is impossibly large"), record, -1);
  }
  std::string bytes(range->bytes, '\0');
  const Status status = impl_->file->Read(range->offset, range->bytes, bytes.data());
  if (!status.ok()) return impl_->Locate(status, record, -1);
  proto::RecordMeta meta;
  if (!meta.ParseFromString(bytes) || !IsRecordKey(meta.key())) {
    return impl_->Locate(DataLossError("the metadata is malformed"), record, -1);
  }
  return meta;
}

void ShardReader::Prefetch(uint64_t record) const {
  if (record >= records()) return;
  StoredPlace place;
  for (uint32_t field = 0; field < impl_->field_count(); ++field) {
    // An error will be met again, and reported, by the read.
    if (!impl_->Find(record, field, &place).ok()) continue;
    impl_->file->WillNeed(place.range.offset, place.range.bytes);
  }
}

void ShardReader::Populate(uint64_t record, int field) const {
  StoredPlace place;
  if (!impl_->CheckArguments(record, field).ok()) return;
  if (!impl_->Find(record, static_cast<uint32_t>(field), &place).ok()) return;
  impl_->file->Populate(place.range.offset, place.range.bytes);
}

Result<const uint8_t*> ShardReader::View(uint64_t record, int field) const {
  RETURN_IF_ERROR(impl_->CheckArguments(record, field));
  const auto index = static_cast<uint32_t>(field);
  if (!impl_->parts.schema.fields[index].IsDense() || impl_->file->data() == nullptr) {
    return InvalidArgumentError(path() + ": field " + impl_->parts.schema.fields[index].name +
                                " cannot be viewed: only raw fields of a fixed shape can, in "
                                "files that are mapped");
  }
  StoredPlace place;
  Status status = impl_->Find(record, index, &place);
  const FileRange& range = place.range;
  if (status.ok()) status = impl_->file->CheckRange(range.offset, range.bytes);
  if (status.ok() && impl_->WantsCheck(place)) {
    const Result<uint64_t> sum = impl_->file->Checksum64(range.offset, range.bytes);
    status = sum.ok() ? impl_->CheckSum(place, *sum) : sum.status();
  }
  if (!status.ok()) return impl_->Locate(status, record, field);
  return impl_->file->data() + range.offset;
}

Status ShardReader::CheckDigest() const {
  const ShardParts& parts = impl_->parts;
  ShardDigest digest(parts.superblock.checksum, parts.superblock.schema_checksum);
  for (uint32_t block = 0; block < block_count(); ++block) {
    const Result<uint64_t> checksum = impl_->index->HeaderChecksum(block);
    if (!checksum.ok()) {
      return checksum.status().WithContext(path() + ": block " + std::to_string(block));
    }
    digest.AddBlock(*checksum);
  }
  if (digest.Finish(parts.footer.checksum) == parts.postscript.digest) return OkStatus();
  return DataLossError(path() + ": the digest in the postscript is not that of the parts");
}

Status ShardReader::CheckUnchanged() const {
  ASSIGN_OR_RETURN(const int64_t modified_ns, impl_->file->CheckUnchanged());
  if (impl_->modified_ns.exchange(modified_ns) != modified_ns) impl_->index->ForgetChecks();
  return OkStatus();
}

}  // namespace shardmill
