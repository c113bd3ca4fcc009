#include "tools/pack/pack_run.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "reader/base/exception_status.h"
#include "reader/base/interrupt.h"
#include "reader/base/ordered_pipeline.h"
#include "reader/console/terminal.h"
#include "tools/pack/inputs/input_fault.h"
#include "tools/pack/labels/label_decode.h"
#include "tools/pack/labels/unknown_report.h"
#include "tools/pack/output/shard_sequence.h"
#include "tools/pack/records/encoder_pool.h"
#include "tools/progress.h"

namespace shardmill {
namespace {

// Decoded, converted and encoded forms of one record live at once.
constexpr uint64_t kCopiesInFlight = 4;
constexpr uint64_t kMaxBytesInFlight = uint64_t{1} << 29;

// Smaller records are handed to a thread and back in batches of about so many bytes.
constexpr uint64_t kBatchBytes = uint64_t{1} << 20;
constexpr uint64_t kMaxBatch = 64;
// So many batches for each thread at least, lest one of them ends long after the others.
constexpr uint64_t kBatchesPerThread = 16;

constexpr char kLeaveOut[] =
    "; correct it, or leave out what cannot be packed with --on-error skip";
constexpr char kMoreMemory[] = "give more, or use fewer threads (--jobs)";
constexpr char kAllDropped[] = "too much of each of its windows is ignored (--max-ignore)";

}  // namespace

struct PackRun::Impl {
  Impl(const PackPlan& plan_in, const PackOptions& options_in, int threads)
      : plan(plan_in),
        options(options_in),
        labels(MakeLabelDecoder(plan_in)),
        encoders(plan_in, options_in, labels, threads) {}

  PipelineOptions Pipeline(const ShardSequence& shards) const;
  Status Take(uint64_t index, EncodedSample encoded, ShardSequence* shards);
  Status TakeFailure(uint64_t index, const EncodedSample& encoded, ShardSequence* shards);

  const PackPlan& plan;
  const PackOptions& options;
  std::string folder;
  Progress* progress = nullptr;
  const LabelDecoder labels;
  EncoderPool encoders;
  // The pack cannot succeed any more: labels are still looked through for unknown values.
  std::atomic<bool> only_label_values{false};
  UnknownReport unknown;
  std::string not_finite_example;
};

PipelineOptions PackRun::Impl::Pipeline(const ShardSequence& shards) const {
  PipelineOptions pipeline;
  pipeline.threads = encoders.threads();
  pipeline.max_bytes = kMaxBytesInFlight;
  pipeline.batch =
      std::min({kMaxBatch, kBatchBytes / std::max<uint64_t>(1, plan.largest_record_bytes),
                shards.inputs() / (static_cast<uint64_t>(encoders.threads()) * kBatchesPerThread)});
  pipeline.item_bytes = [&](uint64_t index) {
    const ShardSequence::Place place = shards.Find(index);
    const uint64_t records_per_input = place.split->expected_records / place.split->samples.size();
    return (kCopiesInFlight + records_per_input) * plan.largest_record_bytes +
           place.sample->image.bytes;
  };
  pipeline.cancelled = WasInterrupted;
  return pipeline;
}

Status PackRun::Impl::Take(uint64_t index, EncodedSample encoded, ShardSequence* shards) {
  progress->Add(1, encoded.source_bytes);
  if (!encoded.unknown.empty()) {
    const bool by_palette = encoded.label.has_value() && encoded.label->kind == kPaletteColor;
    unknown.Add(shards->Find(index).sample->label.path, encoded.unknown, by_palette);
    if (!options.on_error.skip) only_label_values = true;
  }
  if (only_label_values) return OkStatus();
  if (!encoded.status.ok()) return TakeFailure(index, encoded, shards);
  if (encoded.conversions[kNotFiniteKept] > 0 && not_finite_example.empty()) {
    not_finite_example = shards->Find(index).sample->key;
  }
  if (!encoded.records.empty()) return shards->Append(index, std::move(encoded));
  const Problem dropped = {shards->Find(index).sample->key, kAllDropped, true};
  return shards->Skip(index, dropped, encoded.statistics);
}

Status PackRun::Impl::TakeFailure(uint64_t index, const EncodedSample& encoded,
                                  ShardSequence* shards) {
  const std::string& key = shards->Find(index).sample->key;
  if (!IsInputFault(encoded.status)) return encoded.status.WithContext(key);
  if (!options.on_error.skip) {
    return Status(encoded.status.code(), key + ": " + encoded.status.message() + kLeaveOut);
  }
  // Reasons are stored: they must be text, whatever a file's name is made of.
  return shards->Skip(index, {key, EscapeControl(encoded.status.message())}, proto::Statistics());
}

PackRun::PackRun(const PackPlan& plan, const PackOptions& options, int threads, std::string folder,
                 Progress* progress)
    : impl_(std::make_unique<Impl>(plan, options, threads)) {
  impl_->folder = std::move(folder);
  impl_->progress = progress;
}

PackRun::~PackRun() = default;

Status PackRun::Pack(std::vector<PlannedShard> planned) {
  Impl& run = *impl_;
  ShardSequence shards(run.plan, std::move(planned), run.folder);
  RETURN_IF_ERROR(RunOrdered<EncodedSample>(
      run.Pipeline(shards), shards.inputs(),
      [&](uint64_t index, int) -> Result<EncodedSample> {
        const SampleWork work =
            run.only_label_values ? SampleWork::kLabelValues : SampleWork::kRecord;
        const ShardSequence::Place place = shards.Find(index);
        try {
          return run.encoders.Encode(*place.sample, place.split->geometry, work);
        } catch (const std::bad_alloc&) {
          return OutOfMemoryError(place.sample->key, kMoreMemory);
        }
      },
      [&](uint64_t index, EncodedSample encoded) {
        return run.Take(index, std::move(encoded), &shards);
      }));
  if (run.only_label_values) return DataLossError(UnknownLabels());
  return shards.Finish();
}

std::string PackRun::NotFiniteExample() const { return impl_->not_finite_example; }

std::string PackRun::UnknownLabels() const {
  if (impl_->unknown.empty()) return "";
  return impl_->unknown.Describe(impl_->plan.schema.classes.size(), impl_->plan.labels);
}

}  // namespace shardmill
