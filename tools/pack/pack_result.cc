#include "tools/pack/pack_result.h"

#include <algorithm>

#include "reader/console/units.h"
#include "reader/statistics.h"
#include "tools/pack/output/finished_shard.h"

namespace shardmill {
namespace {

// Adds stored counts to those that this program knows by the same names.
template <typename Counts, typename KeyOf>
void LoadCounts(const google::protobuf::RepeatedPtrField<proto::PackCounts::Count>& stored,
                KeyOf key_of, Counts* counts) {
  for (const proto::PackCounts::Count& count : stored) {
    for (size_t i = 0; i < counts->size(); ++i) {
      if (key_of(i) == count.name()) (*counts)[i] += count.count();
    }
  }
}

uint64_t FieldBytes(const proto::PackCounts& counts, int field) {
  return field < counts.field_bytes_size() ? counts.field_bytes(field) : 0;
}

void AddShard(const FinishedShard& shard, SplitResult* split, PackResult* result) {
  const proto::PackCounts& counts = shard.summary.counts();
  ++split->shards;
  split->packed += counts.inputs();
  split->records += shard.records;
  split->shard_bytes += shard.bytes;
  split->image_bytes += FieldBytes(counts, 0);
  split->label_bytes += FieldBytes(counts, 1);
  split->source_bytes += counts.source_bytes();
  result->approximated_pixels += counts.approximated_pixels();
  result->approximated_labels += counts.approximated_labels();
  result->shapes_without_area += counts.shapes_without_area();
  result->clipped_labels += counts.clipped_labels();
  AddStatistics(shard.summary.statistics(), &split->statistics);
  for (const proto::SkippedInput& skipped : shard.summary.skipped()) {
    split->skipped.push_back({skipped.key(), skipped.reason(), skipped.by_rule()});
  }
  LoadCounts(
      counts.conversions(), [](size_t i) { return ConversionKey(static_cast<Conversion>(i)); },
      &result->conversions);
  LoadCounts(
      counts.label_kinds(), [](size_t i) { return LabelKindKey(static_cast<LabelKind>(i)); },
      &result->label_kinds);
}

}  // namespace

uint64_t PackResult::inputs() const {
  uint64_t count = 0;
  for (const SplitResult& split : splits) count += split.inputs;
  return count;
}

uint64_t PackResult::packed() const {
  uint64_t count = 0;
  for (const SplitResult& split : splits) count += split.packed;
  return count;
}

uint64_t PackResult::records() const {
  uint64_t count = 0;
  for (const SplitResult& split : splits) count += split.records;
  return count;
}

uint64_t PackResult::skipped() const {
  uint64_t count = 0;
  for (const SplitResult& split : splits) count += split.skipped.size();
  return count;
}

uint64_t PackResult::faulty() const {
  uint64_t count = 0;
  for (const SplitResult& split : splits) {
    for (const Problem& problem : split.skipped) count += problem.by_rule ? 0 : 1;
  }
  return count;
}

uint64_t PackResult::shards() const {
  uint64_t count = 0;
  for (const SplitResult& split : splits) count += split.shards;
  return count;
}

Result<PackResult> ReadPackResult(const PackPlan& plan, const std::vector<PlannedShard>& shards,
                                  const std::string& folder) {
  PackResult result;
  for (const PlannedShard& shard : shards) {
    const std::string& name = plan.splits[shard.split].name;
    if (result.splits.empty() || result.splits.back().name != name) {
      result.splits.emplace_back().name = name;
    }
    ASSIGN_OR_RETURN(const FinishedShard finished, ReadFinishedShard(plan, shard, folder));
    SplitResult& split = result.splits.back();
    split.inputs += plan.InputsOf(shard);
    AddShard(finished, &split, &result);
  }
  return result;
}

Status CheckNoSplitIsEmpty(const PackResult& result) {
  for (const SplitResult& split : result.splits) {
    if (split.records > 0) continue;
    const Problem& first = split.skipped.front();
    const std::string message = "none of the " + FormatCount(split.inputs) + " inputs of split " +
                                split.name + " could be packed; the first: " + first.key + ": " +
                                first.reason;
    // Then the inputs are sound, and what was asked for leaves them out.
    const bool by_rule = std::all_of(split.skipped.begin(), split.skipped.end(),
                                     [](const Problem& problem) { return problem.by_rule; });
    return by_rule ? InvalidArgumentError(message) : DataLossError(message);
  }
  return OkStatus();
}

}  // namespace shardmill
