#include "tools/pack/records/train_dictionaries.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/ordered_pipeline.h"
#include "reader/zstd_dictionary.h"
#include "tools/pack/inputs/input_fault.h"
#include "tools/pack/records/encoder_pool.h"
#include "tools/progress.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxInputs = 2048;
constexpr uint64_t kMinInputs = 64;
constexpr uint64_t kMaxSampleBytes = kSampleBytesPerDictionaryByte * kMaxDictionaryBytes;
constexpr uint64_t kMaxBytesInFlight = uint64_t{1} << 28;
// A field that is part of a record may be this much smaller than the record.
constexpr uint64_t kRecordBytesPerFieldByte = 8;

// The samples of one field.
struct FieldSamples {
  size_t field = 0;
  std::vector<std::string> samples;
  uint64_t bytes = 0;
};

std::vector<const Sample*> ChooseInputs(const PackPlan& plan) {
  const std::vector<Sample>& all = plan.splits.front().samples;
  const uint64_t wanted =
      kRecordBytesPerFieldByte * kMaxSampleBytes / std::max<uint64_t>(1, plan.record_bytes);
  const uint64_t count = std::min<uint64_t>(all.size(), std::clamp(wanted, kMinInputs, kMaxInputs));
  std::vector<const Sample*> chosen;
  for (uint64_t i = 0; i < count; ++i) chosen.push_back(&all[i * all.size() / count]);
  return chosen;
}

void TakeSamples(const EncodedSample& encoded, std::vector<FieldSamples>* fields) {
  for (const EncodedRecord& record : encoded.records) {
    for (FieldSamples& field : *fields) {
      const std::string& bytes = record.fields[field.field].bytes;
      if (field.bytes + bytes.size() > kMaxSampleBytes && !field.samples.empty()) continue;
      field.samples.push_back(bytes);
      field.bytes += bytes.size();
    }
  }
}

// `plan` has no dictionaries yet; its copy stores the fields raw that will have one.
Status CollectSamples(const PackOptions& options, int threads, const PackPlan& plan,
                      std::vector<FieldSamples>* fields) {
  const LabelDecoder labels = MakeLabelDecoder(plan);
  EncoderPool encoders(plan, options, labels, threads);
  const std::vector<const Sample*> inputs = ChooseInputs(plan);
  ProgressOptions progress_options;
  progress_options.action = "learning a dictionary";
  progress_options.unit = "inputs";
  progress_options.total = inputs.size();
  progress_options.style = ProgressStyleFor(options.quiet);
  Progress progress(progress_options);
  PipelineOptions pipeline;
  pipeline.threads = threads;
  pipeline.max_bytes = kMaxBytesInFlight;
  pipeline.item_bytes = [&](uint64_t index) {
    return plan.record_bytes + inputs[index]->image.bytes;
  };
  pipeline.cancelled = WasInterrupted;
  return RunOrdered<EncodedSample>(
      pipeline, inputs.size(),
      [&](uint64_t index, int) -> Result<EncodedSample> {
        return encoders.Encode(*inputs[index], plan.splits.front().geometry, SampleWork::kRecord);
      },
      [&](uint64_t index, EncodedSample encoded) {
        progress.Add(1, encoded.source_bytes);
        // What is learned must not depend on which inputs this machine can read today.
        if (!encoded.status.ok() && !IsInputFault(encoded.status)) {
          return encoded.status.WithContext(inputs[index]->key);
        }
        if (encoded.status.ok()) TakeSamples(encoded, fields);
        return OkStatus();
      });
}

}  // namespace

Status TrainDictionaries(const PackOptions& options, int threads, PackPlan* plan) {
  std::vector<FieldSamples> fields;
  for (size_t i = 0; i < plan->schema.fields.size(); ++i) {
    if (plan->schema.fields[i].codec == Codec::kZstdDictionary) fields.push_back({i, {}, 0});
  }
  if (fields.empty()) return OkStatus();
  PackPlan raw = *plan;
  for (const FieldSamples& samples : fields) {
    raw.schema.fields[samples.field].codec = Codec::kRaw;
  }
  RETURN_IF_ERROR(CollectSamples(options, threads, raw, &fields));
  for (FieldSamples& samples : fields) {
    FieldSpec& spec = plan->schema.fields[samples.field];
    auto dictionary = TrainZstdDictionary(samples.samples);
    if (!dictionary.ok()) {
      return InvalidArgumentError("field " + spec.name + ": " + dictionary.status().message() +
                                  "; store it with zstd in place of zstd-dict");
    }
    spec.dictionary = std::move(dictionary).value();
  }
  return OkStatus();
}

}  // namespace shardmill
