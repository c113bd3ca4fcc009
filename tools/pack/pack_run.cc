#include "tools/pack/pack_run.h"

#include <atomic>
#include <memory>
#include <utility>

#include "reader/base/interrupt.h"
#include "reader/base/ordered_pipeline.h"
#include "reader/console/terminal.h"
#include "reader/statistics.h"
#include "tools/pack/sample_encoder.h"
#include "tools/pack/shard_sequence.h"
#include "tools/pack/unknown_report.h"
#include "tools/progress.h"

namespace shardmill {
namespace {

// Decoded, converted and encoded forms of one record live at once.
constexpr uint64_t kCopiesInFlight = 4;
constexpr uint64_t kMaxBytesInFlight = uint64_t{1} << 29;

constexpr char kAllDropped[] = "too much of each of its windows is ignored (--max-ignore)";

bool MayBeSkipped(const Status& status) {
  return status.code() != StatusCode::kCancelled && status.code() != StatusCode::kInternal;
}

class PackRun {
 public:
  PackRun(const PackPlan& plan, const PackOptions& options, int threads, std::string folder,
          Progress* progress);

  Result<PackResult> Run();

 private:
  Status PackSplit(const SplitPlan& split);
  Status Take(uint64_t index, EncodedSample encoded, const SplitPlan& split, ShardSequence* shards);
  Status TakeRecords(uint64_t index, EncodedSample encoded, const std::string& key,
                     ShardSequence* shards);
  Status TakeFailure(uint64_t index, const EncodedSample& encoded, const Sample& sample,
                     ShardSequence* shards);

  const PackPlan& plan_;
  const PackOptions& options_;
  const int threads_;
  const std::string folder_;
  Progress* progress_;
  const LabelDecoder labels_;
  std::vector<std::unique_ptr<SampleEncoder>> encoders_;  // one per worker
  // The pack cannot succeed any more: labels are still looked through for unknown values.
  std::atomic<bool> only_label_values_{false};
  UnknownReport unknown_;
  PackResult result_;
};

PackRun::PackRun(const PackPlan& plan, const PackOptions& options, int threads, std::string folder,
                 Progress* progress)
    : plan_(plan),
      options_(options),
      threads_(threads),
      folder_(std::move(folder)),
      progress_(progress),
      labels_(MakeLabelDecoder(plan)) {
  for (int i = 0; i < threads; ++i) {
    encoders_.push_back(std::make_unique<SampleEncoder>(plan_, options_, labels_));
  }
}

Result<PackResult> PackRun::Run() {
  for (const SplitPlan& split : plan_.splits) RETURN_IF_ERROR(PackSplit(split));
  if (!unknown_.empty()) {
    result_.unknown_labels = unknown_.Describe(plan_.schema.classes.size(), plan_.labels);
  }
  if (only_label_values_) return DataLossError(result_.unknown_labels);
  return std::move(result_);
}

Status PackRun::PackSplit(const SplitPlan& split) {
  SplitResult result;
  result.name = split.name;
  result.inputs = split.samples.size() + split.problems.size();
  result.skipped = split.problems;
  result_.splits.push_back(std::move(result));
  ShardSequence shards(plan_, split, folder_);
  const uint64_t records_per_input = split.expected_records / split.samples.size();
  PipelineOptions pipeline;
  pipeline.threads = threads_;
  pipeline.max_bytes = kMaxBytesInFlight;
  pipeline.item_bytes = [&](uint64_t index) {
    return (kCopiesInFlight + records_per_input) * plan_.largest_record_bytes +
           split.samples[index].image.bytes;
  };
  pipeline.cancelled = WasInterrupted;
  RETURN_IF_ERROR(RunOrdered<EncodedSample>(
      pipeline, split.samples.size(),
      [&](uint64_t index, int worker) -> Result<EncodedSample> {
        SampleWork work = only_label_values_ ? SampleWork::kLabelValues : SampleWork::kRecord;
        return encoders_[static_cast<size_t>(worker)]->Encode(split.samples[index], split.geometry,
                                                              work);
      },
      [&](uint64_t index, EncodedSample encoded) {
        return Take(index, std::move(encoded), split, &shards);
      }));
  if (only_label_values_) return OkStatus();
  SplitResult& done = result_.splits.back();
  if (done.records == 0) {
    const Problem& first = done.skipped.front();
    return DataLossError("none of the " + FormatCount(done.inputs) + " inputs of split " +
                         done.name + " could be packed; the first: " + first.key + ": " +
                         first.reason);
  }
  RETURN_IF_ERROR(shards.Finish());
  done.shards = shards.shards().size();
  done.shard_bytes = shards.bytes();
  return OkStatus();
}

Status PackRun::Take(uint64_t index, EncodedSample encoded, const SplitPlan& split,
                     ShardSequence* shards) {
  progress_->Add(1, encoded.source_bytes);
  if (!encoded.unknown.empty()) {
    unknown_.Add(split.samples[index].label.path, encoded.unknown);
    if (!options_.on_error.skip) only_label_values_ = true;
  }
  if (only_label_values_) return OkStatus();
  if (!encoded.status.ok()) return TakeFailure(index, encoded, split.samples[index], shards);
  return TakeRecords(index, std::move(encoded), split.samples[index].key, shards);
}

Status PackRun::TakeRecords(uint64_t index, EncodedSample encoded, const std::string& key,
                            ShardSequence* shards) {
  SplitResult& split = result_.splits.back();
  AddStatistics(encoded.statistics, &split.statistics);
  if (encoded.records.empty()) {
    split.skipped.push_back({key, kAllDropped, true});
    return shards->Skip(index, split.skipped.back(), encoded.statistics);
  }
  ++split.packed;
  split.records += encoded.records.size();
  split.source_bytes += encoded.source_bytes;
  for (const EncodedRecord& record : encoded.records) {
    split.image_bytes += record.fields[0].bytes.size();
    split.label_bytes += record.fields[1].bytes.size();
  }
  for (size_t i = 0; i < kConversionCount; ++i) result_.conversions[i] += encoded.conversions[i];
  if (encoded.label.has_value()) {
    ++result_.label_kinds[encoded.label->kind];
    result_.approximated_pixels += encoded.label->approximated;
    result_.approximated_labels += encoded.label->approximated > 0;
    result_.clipped_labels += encoded.label->may_be_clipped;
    result_.shapes_without_area += encoded.label->without_area;
  }
  return shards->Append(index, std::move(encoded.records), encoded.statistics);
}

Status PackRun::TakeFailure(uint64_t index, const EncodedSample& encoded, const Sample& sample,
                            ShardSequence* shards) {
  if (!options_.on_error.skip || !MayBeSkipped(encoded.status)) {
    return encoded.status.WithContext(sample.key);
  }
  // Reasons are stored: they must be text, whatever a file's name is made of.
  const std::string reason = EscapeControl(encoded.status.message());
  result_.splits.back().skipped.push_back({sample.key, reason});
  return shards->Skip(index, result_.splits.back().skipped.back(), proto::Statistics());
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

Result<PackResult> RunPack(const PackPlan& plan, const PackOptions& options, int threads,
                           const std::string& folder, Progress* progress) {
  return PackRun(plan, options, threads, folder, progress).Run();
}

}  // namespace shardmill
