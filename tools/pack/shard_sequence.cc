#include "tools/pack/shard_sequence.h"

#include <utility>

#include "reader/statistics.h"

namespace shardmill {
namespace {

void AddSkipped(const Problem& problem, proto::ShardSummary* summary) {
  proto::SkippedInput* skipped = summary->add_skipped();
  skipped->set_key(problem.key);
  skipped->set_reason(problem.reason);
  skipped->set_by_rule(problem.by_rule);
}

}  // namespace

ShardSequence::ShardSequence(const PackPlan& plan, const SplitPlan& split, std::string folder)
    : plan_(plan), split_(split), folder_(std::move(folder)) {}

Status ShardSequence::OpenNext() {
  ShardPlan shard;
  shard.split = split_.name;
  shard.shard_number = static_cast<uint32_t>(shards_.size());
  shard.shard_count = split_.shard_count;
  shard.first_input = split_.ShardBegin(shard.shard_number);
  shard.end_input = split_.ShardEnd(shard.shard_number);
  shard.records_per_block = plan_.records_per_block;
  shard.dataset_id = plan_.dataset_id;
  ASSIGN_OR_RETURN(writer_, ShardWriter::Create(folder_, shard, plan_.schema, plan_.recipe));
  summary_.Clear();
  if (shard.shard_number > 0) return OkStatus();
  for (const Problem& problem : split_.problems) AddSkipped(problem, &summary_);
  return OkStatus();
}

Status ShardSequence::CloseCurrent() {
  ASSIGN_OR_RETURN(ShardResult result, writer_->Close(summary_));
  shards_.push_back(std::move(result));
  writer_.reset();
  return OkStatus();
}

Status ShardSequence::GoTo(uint64_t index) {
  SHARDMILL_CHECK(index < split_.samples.size());
  const auto number = static_cast<uint32_t>(shards_.size());
  if (writer_ != nullptr && index >= split_.ShardEnd(number)) RETURN_IF_ERROR(CloseCurrent());
  return writer_ == nullptr ? OpenNext() : OkStatus();
}

Status ShardSequence::Append(uint64_t index, std::vector<EncodedRecord> records,
                             const proto::Statistics& statistics) {
  RETURN_IF_ERROR(GoTo(index));
  AddStatistics(statistics, summary_.mutable_statistics());
  for (EncodedRecord& record : records) RETURN_IF_ERROR(writer_->Append(std::move(record)));
  return OkStatus();
}

Status ShardSequence::Skip(uint64_t index, const Problem& problem,
                           const proto::Statistics& statistics) {
  RETURN_IF_ERROR(GoTo(index));
  AddStatistics(statistics, summary_.mutable_statistics());
  AddSkipped(problem, &summary_);
  return OkStatus();
}

Status ShardSequence::Finish() { return writer_ == nullptr ? OkStatus() : CloseCurrent(); }

uint64_t ShardSequence::bytes() const {
  uint64_t bytes = 0;
  for (const ShardResult& shard : shards_) bytes += shard.bytes;
  return bytes;
}

}  // namespace shardmill
