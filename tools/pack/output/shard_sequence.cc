#include "tools/pack/output/shard_sequence.h"

#include <algorithm>
#include <utility>

#include "reader/statistics.h"
#include "tools/pack/output/pack_state.h"

namespace shardmill {
namespace {

void AddSkipped(const Problem& problem, proto::ShardSummary* summary) {
  proto::SkippedInput* skipped = summary->add_skipped();
  skipped->set_key(problem.key);
  skipped->set_reason(problem.reason);
  skipped->set_by_rule(problem.by_rule);
}

template <typename Counts, typename KeyOf>
void StoreCounts(const Counts& counts, KeyOf key_of,
                 google::protobuf::RepeatedPtrField<proto::PackCounts::Count>* stored) {
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    proto::PackCounts::Count* count = stored->Add();
    count->set_name(std::string(key_of(i)));
    count->set_count(counts[i]);
  }
}

}  // namespace

ShardSequence::ShardSequence(const PackPlan& plan, std::vector<PlannedShard> shards,
                             std::string folder)
    : plan_(plan), shards_(std::move(shards)), folder_(std::move(folder)), begins_({0}) {
  for (const PlannedShard& shard : shards_) {
    const SplitPlan& split = plan.splits[shard.split];
    begins_.push_back(begins_.back() + split.ShardEnd(shard.number) -
                      split.ShardBegin(shard.number));
  }
}

size_t ShardSequence::ShardOf(uint64_t index) const {
  SHARDMILL_CHECK(index < inputs());
  return static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), index) -
                             begins_.begin() - 1);
}

ShardSequence::Place ShardSequence::Find(uint64_t index) const {
  const size_t shard = ShardOf(index);
  const SplitPlan& split = plan_.splits[shards_[shard].split];
  return {&split, &split.samples[split.ShardBegin(shards_[shard].number) + index - begins_[shard]]};
}

Status ShardSequence::OpenNext() {
  const PlannedShard& shard = shards_[current_];
  ASSIGN_OR_RETURN(
      writer_, ShardWriter::Create(folder_, plan_.ShardPlanOf(shard), plan_.schema, plan_.recipe));
  summary_.Clear();
  summary_.mutable_counts()->mutable_field_bytes()->Resize(
      static_cast<int>(plan_.schema.fields.size()), 0);
  conversions_ = {};
  label_kinds_ = {};
  if (shard.number > 0) return OkStatus();
  for (const Problem& problem : plan_.splits[shard.split].problems) {
    AddSkipped(problem, &summary_);
  }
  return OkStatus();
}

proto::ShardSummary ShardSequence::Summary() const {
  proto::ShardSummary summary = summary_;
  StoreCounts(
      conversions_, [](size_t i) { return ConversionKey(static_cast<Conversion>(i)); },
      summary.mutable_counts()->mutable_conversions());
  StoreCounts(
      label_kinds_, [](size_t i) { return LabelKindKey(static_cast<LabelKind>(i)); },
      summary.mutable_counts()->mutable_label_kinds());
  return summary;
}

Status ShardSequence::CloseCurrent() {
  const auto remember = [this](const ShardResult& shard) {
    return AddToPackState(folder_, shard.file, shard.digest);
  };
  RETURN_IF_ERROR(writer_->Close(Summary(), remember).status());
  writer_.reset();
  ++current_;
  return OkStatus();
}

Status ShardSequence::GoTo(uint64_t index) {
  if (writer_ != nullptr && ShardOf(index) > current_) RETURN_IF_ERROR(CloseCurrent());
  return writer_ == nullptr ? OpenNext() : OkStatus();
}

void ShardSequence::AddCounts(const EncodedSample& encoded) {
  AddStatistics(encoded.statistics, summary_.mutable_statistics());
  proto::PackCounts* counts = summary_.mutable_counts();
  counts->set_inputs(counts->inputs() + 1);
  counts->set_source_bytes(counts->source_bytes() + encoded.source_bytes);
  for (const EncodedRecord& record : encoded.records) {
    for (size_t i = 0; i < record.fields.size(); ++i) {
      uint64_t* bytes = counts->mutable_field_bytes()->Mutable(static_cast<int>(i));
      *bytes += record.fields[i].bytes.size();
    }
  }
  for (size_t i = 0; i < conversions_.size(); ++i) conversions_[i] += encoded.conversions[i];
  if (!encoded.label.has_value()) return;
  const DecodedLabel& label = *encoded.label;
  ++label_kinds_[label.kind];
  counts->set_approximated_pixels(counts->approximated_pixels() + label.approximated);
  counts->set_approximated_labels(counts->approximated_labels() + (label.approximated > 0));
  counts->set_shapes_without_area(counts->shapes_without_area() + label.without_area);
  counts->set_clipped_labels(counts->clipped_labels() + (label.may_be_clipped ? 1 : 0));
}

Status ShardSequence::Append(uint64_t index, EncodedSample encoded) {
  RETURN_IF_ERROR(GoTo(index));
  AddCounts(encoded);
  for (EncodedRecord& record : encoded.records) {
    RETURN_IF_ERROR(writer_->Append(std::move(record)));
  }
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

}  // namespace shardmill
