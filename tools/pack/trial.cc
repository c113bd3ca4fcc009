#include "tools/pack/trial.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "reader/base/interrupt.h"
#include "reader/base/ordered_pipeline.h"
#include "tools/pack/inputs/input_fault.h"
#include "tools/pack/records/encoder_pool.h"

namespace shardmill {
namespace {

constexpr uint64_t kMostInputs = 64, kFewestInputs = 8;
constexpr uint64_t kMostSourceBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxBytesInFlight = uint64_t{1} << 29;

struct Choice {
  const SplitPlan* split;
  const Sample* sample;
};

std::vector<Choice> ChooseInputs(const PackPlan& plan) {
  std::vector<Choice> all;
  for (const SplitPlan& split : plan.splits) {
    for (const Sample& sample : split.samples) all.push_back({&split, &sample});
  }
  const uint64_t mean_bytes = plan.source_bytes() / std::max<uint64_t>(1, all.size());
  const uint64_t wanted =
      std::clamp(kMostSourceBytes / std::max<uint64_t>(1, mean_bytes), kFewestInputs, kMostInputs);
  const uint64_t count = std::min<uint64_t>(all.size(), wanted);
  std::vector<Choice> chosen;
  for (uint64_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
  return chosen;
}

// There is no dictionary yet: what it would save is not known.
PackPlan WithoutDictionaries(PackPlan plan) {
  for (FieldSpec& field : plan.schema.fields) {
    if (field.codec == Codec::kZstdDictionary) field.codec = Codec::kZstd;
  }
  return plan;
}

uint64_t StoredBytes(const EncodedSample& encoded) {
  uint64_t bytes = 0;
  for (const EncodedRecord& record : encoded.records) {
    for (const EncodedField& field : record.fields) bytes += field.bytes.size();
  }
  return bytes;
}

// Those that were not among the inputs tried.
void AddFaulty(const PackPlan& plan, const std::vector<Choice>& inputs, TrialResult* result) {
  std::set<std::string_view> keys;
  for (const Choice& input : inputs) keys.insert(input.sample->key);
  for (const Problem& problem : plan.faulty) {
    if (keys.count(problem.key) > 0) continue;
    result->problems.push_back(problem);
    ++result->tried;
  }
}

}  // namespace

Result<TrialResult> TryInputs(const PackPlan& plan, const PackOptions& options, int threads) {
  const PackPlan trial = WithoutDictionaries(plan);
  const LabelDecoder labels = MakeLabelDecoder(trial);
  EncoderPool encoders(trial, options, labels, threads);
  const std::vector<Choice> inputs = ChooseInputs(trial);
  PipelineOptions pipeline;
  pipeline.threads = threads;
  pipeline.max_bytes = kMaxBytesInFlight;
  pipeline.item_bytes = [&](uint64_t index) {
    return trial.record_bytes + inputs[index].sample->image.bytes;
  };
  pipeline.cancelled = WasInterrupted;
  TrialResult result;
  uint64_t stored = 0;
  const auto start = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(RunOrdered<EncodedSample>(
      pipeline, inputs.size(),
      [&](uint64_t index, int) -> Result<EncodedSample> {
        const Choice& input = inputs[index];
        return encoders.Encode(*input.sample, input.split->geometry, SampleWork::kRecord);
      },
      [&](uint64_t index, EncodedSample encoded) {
        if (!encoded.status.ok() && !IsInputFault(encoded.status)) {
          return encoded.status.WithContext(inputs[index].sample->key);
        }
        if (!encoded.status.ok()) {
          result.problems.push_back(
              {inputs[index].sample->key, std::string(encoded.status.message())});
        }
        stored += StoredBytes(encoded);
        return OkStatus();
      }));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const auto tried = static_cast<double>(std::max<size_t>(1, inputs.size()));
  result.tried = inputs.size();
  AddFaulty(plan, inputs, &result);
  uint64_t samples = 0;
  for (const SplitPlan& split : plan.splits) samples += split.samples.size();
  const double factor = static_cast<double>(samples) / tried;
  result.estimated_bytes = static_cast<uint64_t>(static_cast<double>(stored) * factor);
  result.estimated_seconds = taken.count() * factor;
  return result;
}

}  // namespace shardmill
