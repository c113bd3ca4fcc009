#include "reader/verify_shard.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/checksum.h"
#include "reader/base/file.h"
#include "reader/base/little_endian.h"
#include "reader/block_format.h"
#include "reader/find_blocks.h"
#include "reader/find_footer.h"
#include "reader/manifest.h"
#include "reader/names.h"
#include "reader/serialize.h"
#include "reader/shard_format.h"

namespace shardmill {

ShardReport::ShardReport() = default;
ShardReport::~ShardReport() = default;
ShardReport::ShardReport(ShardReport&&) noexcept = default;
ShardReport& ShardReport::operator=(ShardReport&&) noexcept = default;

ShardVerifier::ShardVerifier(const std::string& path, FileAccess access)
    : path_(path), access_(access) {
  report_.path = path;
  report_.parts = std::make_unique<ShardParts>();
}

// Whether the machine cannot read what the file still holds. A file that was cut or replaced while
// it was in use is damage.
bool ShardVerifier::IsFailure(const Status& status) const {
  if (status.code() != StatusCode::kIo) return false;
  if (file_ != nullptr) return file_->CheckUnchanged().ok();
  return CheckIsRegularFile(path_).ok();
}

// Of a part whose sum is right: a reader of this version must not make anything of the rest.
bool ShardVerifier::IsForNewerReader(const Status& status) {
  if (status.code() != StatusCode::kInvalidArgument) return false;
  Finding finding;
  finding.file = path_;
  finding.message = "needs a newer reader: " + status.message();
  finding.needs_newer_reader = true;
  report_.findings = {finding};
  report_.needs_newer_reader = true;
  return true;
}

// Adds a finding about the shard as a whole; whether the status was OK.
bool ShardVerifier::Check(const Status& status) {
  if (status.ok()) return true;
  if (IsFailure(status)) {
    failure_ = file_ == nullptr ? status : status.WithContext(path_);
    return false;
  }
  // A file of a wrong size is no shard at its start and at its end.
  const bool is_said =
      !report_.findings.empty() && report_.findings.back().message == status.message();
  if (is_said) return false;
  Finding finding;
  finding.file = path_;
  finding.message = status.message();
  report_.findings.push_back(std::move(finding));
  return false;
}

void ShardVerifier::CheckParts() {
  ShardParts& parts = *report_.parts;
  Result<Superblock> superblock = ReadSuperblock(*file_);
  if (IsForNewerReader(superblock.status())) return;
  report_.has_superblock = Check(superblock.status());
  if (report_.has_superblock) {
    parts.superblock = *superblock;
    const Status schema = ReadSchema(*file_, &parts);
    if (IsForNewerReader(schema)) return;
    report_.has_schema = Check(schema);
  }
  Result<Postscript> postscript = ReadPostscript(*file_);
  report_.has_postscript = Check(postscript.status());
  if (report_.has_postscript) {
    parts.postscript = *postscript;
    report_.has_footer = Check(ReadFooter(*file_, &parts));
    if (report_.has_superblock && report_.has_footer)
      report_.parts_agree = Check(CheckAgreement(parts));
    return;
  }
  const Status footer = FindFooter(*file_, report_.has_superblock, &parts);
  report_.has_footer = footer.ok();
  report_.parts_agree = report_.has_superblock && report_.has_footer;
  if (IsFailure(footer)) Check(footer);
}

// Which shard the blocks must belong to: what it says itself, else what its name says.
void ShardVerifier::FindIdentity(const ShardFallback& fallback) {
  const ShardParts& parts = *report_.parts;
  const std::optional<ShardName> name = ParseShardFileName(FileName(path_));
  if (report_.has_superblock) {
    identity_ = {parts.superblock.dataset_id, parts.superblock.shard_number, 0, {}};
  } else if (report_.has_postscript) {
    identity_ = {parts.postscript.dataset_id, parts.postscript.shard_number, 0, {}};
  } else if (fallback.dataset_id && name) {
    identity_ = {*fallback.dataset_id, name->number, 0, {}};
  }
  if (!identity_) return;
  if (report_.has_schema) {
    identity_->split_sum = SplitSum(parts.schema_message->split());
  } else if (name) {
    identity_->split_sum = SplitSum(name->split);
  }
}

void ShardVerifier::SearchBlocks() {
  const ShardParts& parts = *report_.parts;
  BlockSearch search;
  search.identity = *identity_;
  search.begin = kSchemaOffset;
  if (report_.has_superblock) {
    search.begin = parts.superblock.first_block_offset();
    search.records_per_block = parts.superblock.records_per_block;
  }
  search.end = report_.has_postscript ? parts.postscript.footer_offset : file_->size();
  FoundBlocks found = FindBlocksByHeaders(*file_, search);
  if (!Check(found.failure)) return;
  blocks_ = std::move(found.blocks);
  numbers_ = std::move(found.numbers);
  if (report_.has_postscript && found.missed_bytes == 0) return;
  Check(DataLossError("the block table is lost; " + std::to_string(blocks_.size()) +
                      " blocks were found by their headers, and " +
                      std::to_string(found.missed_bytes) +
                      " bytes beside them could not be checked"));
}

void ShardVerifier::FindBlocks() {
  const ShardParts& parts = *report_.parts;
  if (report_.parts_agree || (report_.has_footer && !report_.has_superblock)) {
    // A lost superblock would say little that the footer does not. Each header is bounds-checked
    // when it is read.
    blocks_ = parts.footer.blocks;
    for (uint32_t i = 0; i < blocks_.size(); ++i) numbers_.push_back(i);
  } else if (identity_) {
    SearchBlocks();
  } else {
    Check(DataLossError("superblock and footer are lost: no block could be checked"));
  }
}

// Whether the fallback's schema is that of the shard: as its own says, else the sum in its
// superblock, else the bytes where its schema must lie.
void ShardVerifier::CompareSchema(const ShardFallback& fallback) {
  const ShardParts& parts = *report_.parts;
  if (fallback.schema_message == nullptr) return;
  proto::ShardSchema expected = *fallback.schema_message;
  if (report_.has_schema) {
    expected.set_split(parts.schema_message->split());
    report_.has_other_schema =
        SerializeDeterministic(expected) != SerializeDeterministic(*parts.schema_message);
    return;
  }
  const std::optional<ShardName> name = ParseShardFileName(FileName(path_));
  if (name) expected.set_split(name->split);
  std::string bytes = SerializeDeterministic(expected);
  const uint64_t schema_bytes = bytes.size();
  bytes.resize(PaddedBytes(schema_bytes), '\0');
  const uint64_t sum = Checksum64(bytes.data(), bytes.size());
  if (report_.has_superblock) {
    report_.has_other_schema =
        parts.superblock.schema_bytes != schema_bytes || parts.superblock.schema_checksum != sum;
    return;
  }
  const Result<uint64_t> found = file_->Checksum64(kSchemaOffset, bytes.size());
  report_.schema_is_assumed = !found.ok() || *found != sum;
  if (!report_.schema_is_assumed) schema_sum_ = sum;
}

void ShardVerifier::Open(const ShardFallback& fallback) {
  Result<std::unique_ptr<InputFile>> file = InputFile::Open(path_, access_);
  if (!Check(file.status())) return;
  file_ = std::move(file).value();
  report_.opened = true;
  report_.bytes = file_->size();
  CheckParts();
  if (report_.needs_newer_reader || !failure_.ok()) return;
  FindIdentity(fallback);
  FindBlocks();
  CompareSchema(fallback);
  schema_ = report_.has_schema ? &report_.parts->schema : fallback.schema;
  if (!report_.has_schema && report_.has_other_schema) {
    schema_ = nullptr;
    Check(DataLossError(
        "the schema is lost and was not that of the set: no record could be checked"));
  } else if (schema_ == nullptr) {
    Check(DataLossError("the schema is lost: no record could be checked"));
  }
  outcomes_.resize(blocks_.size());
}

void ShardVerifier::Populate(uint32_t first, uint32_t end) const {
  const BlockTableEntry& last = blocks_[end - 1];
  if (end < block_count()) file_->WillNeed(blocks_[end].offset, blocks_[end].bytes);
  if (last.offset < blocks_[first].offset) return;
  file_->Populate(blocks_[first].offset, last.offset - blocks_[first].offset + last.bytes);
}

void ShardVerifier::VerifyBlock(uint32_t index, BlockVerifier* verifier, KeyHashes* keys) {
  if (lost_file_) return;
  BlockIdentity identity = *identity_;
  identity.block_number = numbers_[index];
  outcomes_[index] = verifier->Verify({file_.get(), schema_}, blocks_[index], identity, keys);
  if (!outcomes_[index].lost_file) return;
  lost_file_ = true;
  const Status& status = outcomes_[index].read_error;
  if (!IsFailure(status)) return;
  const std::lock_guard<std::mutex> lock(failure_mutex_);
  if (failure_.ok()) failure_ = status.WithContext(path_);
}

// What stands where a sum belongs; it may be damaged as well.
std::optional<uint64_t> ShardVerifier::SumAt(uint64_t offset) const {
  uint8_t bytes[8];
  if (offset > file_->size() || file_->size() - offset < sizeof bytes) return std::nullopt;
  if (!file_->Read(offset, sizeof bytes, bytes).ok()) return std::nullopt;
  return LoadU64(bytes);
}

std::optional<Digest> ShardVerifier::DigestOfSums() const {
  const ShardParts& parts = *report_.parts;
  std::optional<uint64_t> superblock = SumAt(kSuperblockChecksumOffset), schema = schema_sum_;
  if (report_.has_superblock) schema = parts.superblock.schema_checksum;
  std::optional<uint64_t> footer;
  if (report_.has_postscript) footer = parts.postscript.footer_checksum;
  if (report_.has_footer) footer = parts.footer.checksum;
  if (!superblock || !schema || !footer) return std::nullopt;
  ShardDigest digest(*superblock, *schema);
  for (uint32_t i = 0; i < block_count(); ++i) {
    std::optional<uint64_t> header = outcomes_[i].header_checksum;
    if (!header) header = SumAt(blocks_[i].offset + kBlockChecksumOffset);
    if (!header) return std::nullopt;
    digest.AddBlock(*header);
  }
  return digest.Finish(*footer);
}

void ShardVerifier::CheckDigest() {
  const ShardParts& parts = *report_.parts;
  if (report_.opened) report_.digest_of_sums = DigestOfSums();
  if (report_.has_postscript) report_.digest = parts.postscript.digest;
  if (!report_.parts_agree) return;
  ShardDigest digest(parts.superblock.checksum, parts.superblock.schema_checksum);
  bool in_place = true;
  for (const BlockReport& block : outcomes_) {
    if (!block.header_checksum) return;  // said already
    in_place = in_place && block.in_place;
    digest.AddBlock(*block.header_checksum);
  }
  const Digest found = digest.Finish(parts.footer.checksum);
  if (!report_.has_postscript) {
    if (in_place) report_.digest = found;
    return;
  }
  report_.has_its_digest = in_place && found == parts.postscript.digest;
  if (found == parts.postscript.digest) return;
  Check(DataLossError("the digest in the postscript is not that of the parts"));
  report_.has_foreign_part = in_place;
}

ShardReport ShardVerifier::Finish() {
  for (uint32_t i = 0; i < block_count(); ++i) {
    BlockReport& block = outcomes_[i];
    report_.records += blocks_[i].records;
    // Without a header: damaged, or not verified any more.
    const bool all_lost = block.all_lost || !block.header_checksum;
    report_.blocks.push_back({blocks_[i], numbers_[i], block.header_checksum, block.in_place,
                              all_lost, std::move(block.lost_reason), block.has_keys,
                              std::move(block.lost)});
    std::move(block.findings.begin(), block.findings.end(), std::back_inserter(report_.findings));
    // Which blocks behind it were verified before the file was gone depends on the threads.
    if (block.lost_file) break;
  }
  if (!lost_file_) CheckDigest();
  report_.parts_are_sound = report_.parts_agree && report_.has_schema && report_.has_postscript;
  file_.reset();
  return std::move(report_);
}

}  // namespace shardmill
