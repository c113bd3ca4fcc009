#include "reader/verify_shard.h"

#include <optional>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/mapped_file.h"
#include "reader/block_format.h"
#include "reader/shard_format.h"

namespace shardmill {
namespace {

class ShardVerifier {
 public:
  ShardVerifier(const MappedFile* file, const RecordSchema* fallback_schema, ShardReport* report)
      : file_(file), fallback_schema_(fallback_schema), report_(report) {}

  void Run(const std::function<bool(uint64_t)>& advance);

 private:
  bool Check(const Status& status);
  void CheckParts();
  void FindBlocks();
  void WalkBlocks();
  void CheckDigest();
  BlockIdentity Identity(uint32_t block) const;

  const MappedFile* file_;
  const RecordSchema* fallback_schema_;
  ShardReport* report_;

  ShardParts parts_;
  bool has_superblock_ = false;
  bool has_schema_ = false;
  bool has_postscript_ = false;
  bool has_footer_ = false;
  bool agree_ = false;
  std::vector<BlockTableEntry> blocks_;
  std::vector<std::optional<uint64_t>> header_checksums_;
};

// Adds a finding about the shard as a whole; whether the status was OK.
bool ShardVerifier::Check(const Status& status) {
  if (status.ok()) return true;
  Finding finding;
  finding.file = file_->path();
  finding.message = status.message();
  report_->findings.push_back(std::move(finding));
  return false;
}

void ShardVerifier::CheckParts() {
  Result<Superblock> superblock = ReadSuperblock(*file_);
  has_superblock_ = Check(superblock.status());
  if (has_superblock_) {
    parts_.superblock = *superblock;
    has_schema_ = Check(ReadSchema(*file_, &parts_));
  }
  Result<Postscript> postscript = ReadPostscript(*file_);
  has_postscript_ = Check(postscript.status());
  if (has_postscript_) {
    parts_.postscript = *postscript;
    has_footer_ = Check(ReadFooter(*file_, &parts_));
  }
  if (has_superblock_ && has_footer_) agree_ = Check(CheckAgreement(parts_));
}

BlockIdentity ShardVerifier::Identity(uint32_t block) const {
  if (has_superblock_) {
    return {parts_.superblock.dataset_id, parts_.superblock.shard_number, block};
  }
  return {parts_.postscript.dataset_id, parts_.postscript.shard_number, block};
}

// Without a usable block table the blocks are found by going from header to header.
void ShardVerifier::WalkBlocks() {
  const uint64_t end = has_postscript_ ? parts_.postscript.footer_offset : file_->size();
  uint64_t offset = parts_.superblock.first_block_offset();
  uint64_t first_record = 0;
  while (offset < end) {
    const Result<BlockHeader> header = ReadBlockHeader(*file_, offset, end - offset);
    if (!header.ok()) break;
    blocks_.push_back({offset, header->block_bytes, first_record, header->records});
    first_record += header->records;
    offset += header->block_bytes;
  }
  if (has_postscript_ && offset == end) return;
  Check(DataLossError("the block table is lost; " + std::to_string(blocks_.size()) +
                      " blocks were found by their headers, and nothing behind byte " +
                      std::to_string(offset) + " could be checked"));
}

void ShardVerifier::FindBlocks() {
  if (agree_) {
    blocks_ = parts_.footer.blocks;
  } else if (has_superblock_) {
    WalkBlocks();
  } else if (has_footer_) {
    // The superblock is lost, but it would say little that the footer does not. Each header is
    // bounds-checked when it is read.
    blocks_ = parts_.footer.blocks;
  } else {
    Check(DataLossError("superblock and footer are lost: no block could be checked"));
  }
}

void ShardVerifier::CheckDigest() {
  if (!agree_) return;
  ShardDigest digest(parts_.superblock.checksum, parts_.superblock.schema_checksum);
  for (const std::optional<uint64_t>& checksum : header_checksums_) {
    if (!checksum) return;  // said already
    digest.AddBlock(*checksum);
  }
  if (digest.Finish(parts_.footer.checksum) != parts_.postscript.digest) {
    Check(DataLossError("the digest in the postscript is not that of the parts"));
  }
}

void ShardVerifier::Run(const std::function<bool(uint64_t)>& advance) {
  CheckParts();
  FindBlocks();
  const RecordSchema* schema = has_schema_ ? &parts_.schema : fallback_schema_;
  if (schema == nullptr) Check(DataLossError("the schema is lost: no record could be checked"));
  BlockVerifier verifier(file_, schema, &report_->findings, &report_->keys);
  uint64_t done = 0;
  for (uint32_t i = 0; i < blocks_.size() && !verifier.lost_file(); ++i) {
    const BlockTableEntry& block = blocks_[i];
    if (i + 1 < blocks_.size()) file_->WillNeed(blocks_[i + 1].offset, blocks_[i + 1].bytes);
    file_->Populate(block.offset, block.bytes);
    header_checksums_.push_back(verifier.Verify(block, Identity(i)));
    ++report_->blocks;
    report_->records += block.records;
    done += block.bytes;
    if (!advance(block.bytes)) return;
  }
  if (!verifier.lost_file()) CheckDigest();
  if (agree_ && has_schema_) report_->parts = std::make_unique<ShardParts>(std::move(parts_));
  if (done < file_->size()) advance(file_->size() - done);
}

}  // namespace

ShardReport VerifyShard(const std::string& path, const RecordSchema* fallback_schema,
                        const std::function<bool(uint64_t)>& advance) {
  ShardReport report;
  report.path = path;
  const Result<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) {
    Finding finding;
    finding.file = path;
    finding.message = file.status().message();
    report.findings.push_back(std::move(finding));
    return report;
  }
  report.bytes = (*file)->size();
  ShardVerifier(file->get(), fallback_schema, &report).Run(advance);
  return report;
}

}  // namespace shardmill
