#include "tools/salvage/salvage_shard.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/file.h"
#include "reader/block_records.h"
#include "reader/codec.h"
#include "reader/statistics.h"
#include "tools/dump/recount.h"

namespace shardmill {
namespace {

std::string KeyIn(const Result<std::string>& meta) {
  proto::RecordMeta message;
  return meta.ok() && message.ParseFromString(*meta) ? message.key() : std::string();
}

// Why single records are lost, by record number.
std::map<uint64_t, const Finding*> FindingsByRecord(const ShardReport& report) {
  std::map<uint64_t, const Finding*> findings;
  for (const Finding& finding : report.findings) {
    if (finding.record) findings.emplace(*finding.record, &finding);
  }
  return findings;
}

class LossLister {
 public:
  LossLister(const ShardReport& report, FileAccess access, const RecordSchema& schema)
      : report_(report), schema_(schema), findings_(FindingsByRecord(report)) {
    Result<std::unique_ptr<InputFile>> file = InputFile::Open(report.path, access);
    if (file.ok()) file_ = std::move(file).value();
  }

  void Add(const BlockOutcome& block, std::vector<Loss>* losses) const {
    if (!block.all_lost) {
      for (const uint32_t index : block.lost) losses->push_back(SingleLoss(block, index));
      return;
    }
    // With their names, when at least the metadata can be read.
    const Result<BlockRecords> records = Records(block);
    if (!block.has_keys || !records.ok()) {
      losses->push_back({report_.path, block.number, block.entry.first_record, block.entry.records,
                         "", block.lost_reason});
      return;
    }
    for (uint32_t i = 0; i < records->records(); ++i) {
      losses->push_back({report_.path, block.number, block.entry.first_record + i, 1,
                         KeyIn(records->ReadMeta(i)), block.lost_reason});
    }
  }

 private:
  Result<BlockRecords> Records(const BlockOutcome& block) const {
    if (file_ == nullptr) return IoError("the file is gone");
    return BlockRecords::Open(file_.get(), &schema_, block.entry);
  }

  Loss SingleLoss(const BlockOutcome& block, uint32_t index) const {
    Loss loss = {report_.path, block.number, block.entry.first_record + index, 1, "", ""};
    const auto finding = findings_.find(*loss.record);
    if (finding != findings_.end()) {
      loss.key = finding->second->key;
      loss.reason = finding->second->field.empty()
                        ? finding->second->message
                        : finding->second->field + ": " + finding->second->message;
    }
    return loss;
  }

  const ShardReport& report_;
  const RecordSchema& schema_;
  const std::map<uint64_t, const Finding*> findings_;
  std::unique_ptr<InputFile> file_;
};

// The records of blocks that nothing was found of.
void AddUnfound(const SalvageShard& shard, const ShardReport& report, std::vector<Loss>* losses) {
  std::optional<uint64_t> expected = shard.expected;
  if (!expected && report.has_footer) expected = report.parts->footer.record_count;
  if (expected && *expected <= report.records) return;
  if (!expected && report.parts_are_sound) return;
  Loss loss;
  loss.file = report.path;
  if (expected) loss.records = *expected - report.records;
  loss.reason = expected ? "their blocks were not found"
                         : "the block table is lost: there may have been more blocks";
  losses->push_back(std::move(loss));
}

// What else was in parts of the shard that are lost.
void AddLostFacts(const ShardReport& report, bool footer_is_known, std::vector<Loss>* losses) {
  const auto add = [&](const std::string& reason) {
    losses->push_back({report.path, std::nullopt, std::nullopt, 0, "", reason});
  };
  if (report.has_superblock && report.has_footer && !report.parts_agree) {
    add("superblock and footer are sound but not of one shard: which of them is that of another is "
        "not known");
  }
  if (!report.has_superblock) {
    add("the superblock is lost: which range of the inputs the shard was made of is not known");
  }
  if (!report.has_footer) {
    add(footer_is_known ? "the footer is lost: what the manifest does not tell of it, the counts "
                          "of the pack's report, is not known"
                        : "the footer is lost: which inputs were left out, and why, is not known");
  }
}

// "blocks 0-4, 7": those of which something is saved.
std::string SavedBlocks(const ShardReport& report) {
  constexpr size_t kRangesShown = 8;
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  for (const BlockOutcome& block : report.blocks) {
    if (block.all_lost) continue;
    const bool goes_on = !ranges.empty() && ranges.back().second + 1 == block.number;
    if (!goes_on) ranges.emplace_back(block.number, block.number);
    ranges.back().second = block.number;
  }
  const bool is_one = ranges.size() == 1 && ranges[0].first == ranges[0].second;
  std::string text = is_one ? "block " : "blocks ";
  for (size_t i = 0; i < std::min(ranges.size(), kRangesShown); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ranges[i].first);
    if (ranges[i].second > ranges[i].first) text += "-" + std::to_string(ranges[i].second);
  }
  return text + (ranges.size() > kRangesShown ? ", …" : "");
}

// What is saved although it may be of another packing of the same inputs.
void AddUnproven(const SalvageShard& shard, const ShardReport& report, std::vector<Loss>* losses) {
  const uint64_t records = UnprovenRecords(shard, report);
  if (records == 0) return;
  Loss loss;
  loss.file = report.path;
  loss.records = 0;
  loss.reason = "the proof is lost that what is saved of " + SavedBlocks(report) +
                " is what was packed: it is sound and says that it belongs here, but without what "
                "is lost the digest of the shard cannot be compared";
  losses->push_back(std::move(loss));
}

// Copies record after record, and counts them where that is needed.
class ShardCopier {
 public:
  ShardCopier(const SalvagePlan& plan, const ShardReport* report, const CopyOptions& options)
      : plan_(plan), report_(report), options_(options), counts_(LosesRecords(report)) {}

  Status Copy(ShardWriter* writer) {
    if (report_ == nullptr || !report_->opened) return OkStatus();
    ASSIGN_OR_RETURN(file_, InputFile::Open(report_->path, options_.access));
    for (const BlockOutcome& block : report_->blocks) {
      file_->WillNeed(block.entry.offset, block.entry.bytes);
      if (!block.all_lost) {
        const Status status = CopyBlock(block, writer);
        if (!status.ok()) {
          return status.WithContext(report_->path + ": block " + std::to_string(block.number));
        }
      }
      if (!options_.advance(block.entry.bytes)) return CancelledError("salvage was cancelled");
    }
    return OkStatus();
  }

  // Statistics and skipped inputs of what was copied.
  proto::ShardSummary Summary() const {
    proto::ShardSummary summary;
    if (report_ != nullptr && report_->has_footer) summary = *report_->parts->summary;
    if (counts_) {
      const uint64_t dropped = summary.statistics().dropped_records();
      *summary.mutable_statistics() = statistics_;
      if (dropped > 0) summary.mutable_statistics()->set_dropped_records(dropped);
    }
    if (options_.restored != nullptr) summary.MergeFrom(*options_.restored);
    return summary;
  }

 private:
  static bool LosesRecords(const ShardReport* report) {
    if (report == nullptr || !report->parts_agree) return true;
    return std::any_of(report->blocks.begin(), report->blocks.end(), [](const BlockOutcome& block) {
      return block.all_lost || !block.lost.empty();
    });
  }

  Status CopyBlock(const BlockOutcome& block, ShardWriter* writer) {
    ASSIGN_OR_RETURN(const BlockRecords records,
                     BlockRecords::Open(file_.get(), &plan_.schema, block.entry));
    auto lost = block.lost.begin();
    for (uint32_t i = 0; i < records.records(); ++i) {
      if (lost != block.lost.end() && *lost == i) {
        ++lost;
        continue;
      }
      Result<EncodedRecord> record = records.Read(i);
      if (!record.ok()) {
        return record.status().WithContext("record " +
                                           std::to_string(block.entry.first_record + i) +
                                           " changed while it was being copied");
      }
      if (counts_) Count(*record);
      RETURN_IF_ERROR(writer->Append(std::move(record).value()));
    }
    return OkStatus();
  }

  void Count(const EncodedRecord& record) {
    proto::RecordMeta meta;
    proto::Statistics one;
    const bool counted =
        meta.ParseFromString(record.meta) &&
        CountFields(
            plan_.schema, meta, [&](int field) { return Decode(record, field); }, &one)
            .ok();
    // What its writer stored so that it cannot be decoded is kept as it is, but not counted.
    if (!counted) one.Clear();
    one.set_records(1);
    AddStatistics(one, &statistics_);
  }

  Result<Tensor> Decode(const EncodedRecord& record, int field) {
    const FieldSpec& spec = plan_.schema.fields[static_cast<size_t>(field)];
    const EncodedField& encoded = record.fields[static_cast<size_t>(field)];
    ASSIGN_OR_RETURN(const uint64_t bytes, spec.TensorBytes(encoded.variable_dims));
    if (bytes > kMaxTensorBytes) return InvalidArgumentError("the tensor is impossibly large");
    Tensor tensor;
    size_t next_dim = 0;
    for (const int64_t side : spec.shape) {
      tensor.shape.push_back(side == kVariableDim ? encoded.variable_dims[next_dim++] : side);
    }
    tensor.bytes.resize(bytes);
    RETURN_IF_ERROR(decoder_.Decode(spec, encoded.bytes.data(), encoded.bytes.size(),
                                    tensor.bytes.data(), bytes, encoded.variable_dims));
    return tensor;
  }

  static constexpr uint64_t kMaxTensorBytes = uint64_t{1} << 32;
  const SalvagePlan& plan_;
  const ShardReport* report_;
  const CopyOptions& options_;
  const bool counts_;
  std::unique_ptr<InputFile> file_;
  FieldDecoder decoder_;
  proto::Statistics statistics_;
};

uint32_t RecordsPerBlock(const SalvagePlan& plan, const ShardReport* report) {
  if (report != nullptr && report->has_superblock) {
    return report->parts->superblock.records_per_block;
  }
  uint32_t records = std::max(plan.records_per_block, uint32_t{1});
  if (plan.records_per_block > 0 || report == nullptr) return records;
  for (const BlockOutcome& block : report->blocks) records = std::max(records, block.entry.records);
  return records;
}

}  // namespace

bool IsAnotherThanNamed(const SalvageShard& shard, const ShardReport& report) {
  return shard.digest && report.digest && *report.digest != *shard.digest;
}

bool IsProven(const SalvageShard& shard, const ShardReport& report) {
  if (!report.digest_of_sums) return false;
  const Digest& found = *report.digest_of_sums;
  if (report.has_postscript && found == report.parts->postscript.digest) return true;
  return shard.digest && found == *shard.digest;
}

uint64_t SoundRecords(const ShardReport& report) {
  uint64_t records = 0;
  for (const BlockOutcome& block : report.blocks) {
    if (!block.all_lost) records += block.entry.records - block.lost.size();
  }
  return records;
}

uint64_t UnprovenRecords(const SalvageShard& shard, const ShardReport& report) {
  // Of one that is not the named one, another loss tells.
  const bool is_known = IsProven(shard, report) || IsAnotherThanNamed(shard, report);
  return report.opened && !is_known ? SoundRecords(report) : 0;
}

void LoseWholeShard(const std::string& reason, ShardReport* report) {
  for (BlockOutcome& block : report->blocks) {
    block.all_lost = true;
    block.lost_reason = reason;
  }
}

std::vector<Loss> LossesOf(const SalvageShard& shard, const ShardReport* report,
                           const RecordSchema& schema, const LossOptions& options) {
  std::vector<Loss> losses;
  if (report == nullptr || !report->opened) {
    Loss loss;
    loss.file = JoinPath(options.folder, shard.FileName());
    loss.records = shard.expected;
    loss.reason = report != nullptr     ? "the shard cannot be opened"
                  : shard.newer.empty() ? "the shard is missing"
                                        : "the shard needs a newer reader: " + shard.newer;
    losses.push_back(std::move(loss));
    return losses;
  }
  const LossLister lister(*report, options.access, schema);
  for (const BlockOutcome& block : report->blocks) lister.Add(block, &losses);
  if (IsAnotherThanNamed(shard, *report)) {
    losses.push_back({report->path, std::nullopt, std::nullopt, std::nullopt, "",
                      "the shard is not the one that the manifest names: it has digest " +
                          DigestToHex(*report->digest) + ", the manifest says " +
                          DigestToHex(*shard.digest)});
  } else {
    AddUnfound(shard, *report, &losses);
  }
  AddLostFacts(*report, options.footer_is_known, &losses);
  AddUnproven(shard, *report, &losses);
  return losses;
}

Result<ShardResult> CopySoundRecords(const SalvagePlan& plan, const SalvageShard& shard,
                                     const ShardReport* report, const CopyOptions& options) {
  ShardPlan target;
  target.split = shard.split;
  target.shard_number = shard.number;
  target.shard_count = shard.count;
  if (report != nullptr && report->has_superblock) {
    target.first_input = report->parts->superblock.first_input;
    target.end_input = report->parts->superblock.end_input;
  }
  target.records_per_block = RecordsPerBlock(plan, report);
  target.dataset_id = options.dataset_id;
  ASSIGN_OR_RETURN(
      const std::unique_ptr<ShardWriter> writer,
      ShardWriter::Create(options.folder, target, plan.schema, plan.schema_message->recipe()));
  ShardCopier copier(plan, report, options);
  RETURN_IF_ERROR(copier.Copy(writer.get()));
  return writer->Close(copier.Summary());
}

}  // namespace shardmill
